"""Packs what a session may send into datagrams, once in each drain. Counterpart: ``arrivals``."""

from __future__ import annotations

from overlay.channel.sender import Sender
from overlay.channel.session import LEAVING, ROOM, UP, Session
from overlay.channel.wire import ACK, DATA, HEAD, LOW, MAGIC, seal
from overlay.core.node import NEVER


def pack(session: Session) -> None:
    """Send what waits for the drain: records, or an acknowledgement alone."""
    session.is_ready = False
    state = session.state
    if session.is_quiet or not UP <= state <= LEAVING:
        return
    sender = session.sender
    if sender is not None and state != LEAVING:
        if sender.has_work:
            _pack_records(session, sender)
        elif sender.is_stuck and not session.why & ROOM:
            session.probe(ROOM)
    if session.ack_due:
        session.send(ACK)


def _pack_records(session: Session, sender: Sender) -> None:
    now = session.station.now
    for number, records in sender.again():
        _send(session, number, records)
    number, records = sender.fresh(now)
    while records:
        _send(session, number, records)
        if not sender.outbox.has_waiting:
            break
        number, records = sender.fresh(now)
    if session.rto_at == NEVER and sender.records:
        session.rto_at = now + sender.trip.wait
        session.set_timer(session.rto_at)
    if session.asked_at == NEVER and sender.records:
        session.asked_at = now
        session.set_timer(now + session.station.limits.give_up)


def _send(session: Session, number: int, records: list[bytes]) -> None:
    station, receiver = session.station, session.receiver
    if receiver is None:
        head = HEAD.pack(MAGIC, DATA, station.limits.window, session.theirs, number & LOW, 0, 0)
    else:
        got, room = receiver.got, receiver.room
        sack = receiver.sack if got else 0
        head = HEAD.pack(MAGIC, DATA, room, session.theirs, number & LOW, receiver.ack & LOW, sack)
    data = head + (records[0] if len(records) == 1 else b"".join(records))
    station.out.append((seal(data, station.key) if station.key else data, session.address))
    session.shown()
