"""Packs what a session may send into datagrams, once in each drain. Counterpart: ``arrivals``."""

from __future__ import annotations

from overlay.channel import fast
from overlay.channel.asking import LEAVING, ROOM, UP
from overlay.channel.sender import Sender
from overlay.channel.session import Session
from overlay.channel.wire import ACK, DATA, HEAD, LOW, MAGIC, seal
from overlay.core.node import NEVER


def pack(sessions: list[Session]) -> None:
    """Send what waits for the drain: records first, since their receivers act upon them, then the acknowledgements that
    found none to ride on."""
    for session in sessions:
        session.is_ready = False
        if _may_send(session):
            _pack(session)
    for session in sessions:
        if session.ack_due and _may_send(session):
            session.send(ACK)


def _may_send(session: Session) -> bool:
    return not session.is_quiet and UP <= session.state <= LEAVING


def _pack(session: Session) -> None:
    sender = session.sender
    if sender is not None and session.state != LEAVING:
        if not sender.room:
            if (sender.records or sender.has_work) and not session.why & ROOM:
                session.probe(ROOM)
        elif not (sender.outbox.waiting and fast.send(session, sender)) and sender.has_work:
            _pack_records(session, sender)


def _pack_records(session: Session, sender: Sender) -> None:
    now, outbox = session.station.now, sender.outbox
    if sender.runs:
        for number, records in sender.again():
            _send(session, number, records)
    while outbox.waiting or outbox.rest:
        number, records = sender.fresh(now)
        if not records:
            break
        _send(session, number, records)
    if sender.records:
        if session.rto_at == NEVER:
            session.rto_at = at = now + sender.trip.wait
            if at < session.queued_at:
                session.set_timer(at)
        if session.asked_at == NEVER:
            session.asked_at = now
            at = now + session.station.limits.give_up
            if at < session.queued_at:
                session.set_timer(at)


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
    if session.unshown:
        session.shown()
