"""Datagrams of a session that arrive. A datagram is read completely before anything changes. Counterpart: ``packing``.

``Session.receiver`` puts records in order; here is what the other fields say: acknowledgement, room, address, liveness.
"""

from __future__ import annotations

from typing import Final

from overlay.channel.asking import CONFIRM, LEAVING, ROOM, SILENT
from overlay.channel.events import Reason
from overlay.channel.records import split
from overlay.channel.session import Session
from overlay.channel.wire import BYE, DATA, HEAD_BYTES, LOW, PROBE, PROBED, nearest, number, read_number
from overlay.core.addresses import Address
from overlay.core.node import NEVER

Head = tuple[int, int, int, int, int, int, int]
"""Magic, kind, room, to, seq, ack, sack."""
Reading = tuple[int, int, list[bytes]]
"""``ack``, the number of the first record, and the records; without records 0 and none."""
_SIZES: Final = {PROBE: HEAD_BYTES + 8, PROBED: HEAD_BYTES + 8}
"""Bytes of a datagram of a kind other than DATA; 28 by default."""


def read(session: Session, head: Head, data: bytes, end: int) -> Reading | str:
    """A datagram for this session, without its seal from ``end`` on; or why it is dropped."""
    _, kind, _, _, seq, ack, _ = head
    sender, receiver = session.sender, session.receiver
    if sender is None:
        if ack:
            return "ack"
    elif ack != sender.acked & LOW:
        ack = nearest(ack, sender.acked)
        if not 0 <= ack <= sender.sent:
            return "ack"
    else:
        ack = sender.acked
    if kind != DATA:
        return (ack, 0, []) if end == _SIZES.get(kind, HEAD_BYTES) else "size"
    records = split(data, HEAD_BYTES, end)
    if not records:
        return "records"
    before = 0 if receiver is None else receiver.ack
    first = before + 1 if seq == (before + 1) & LOW else nearest(seq, before)
    if first < 1 or first + len(records) - 1 > before + session.station.limits.window:
        return "window"
    return ack, first, records


def accept(session: Session, head: Head, reading: Reading, data: bytes, source: Address) -> None:
    """Let an authentic datagram take effect."""
    now = session.station.now
    session.heard_at = now
    session.asked_at = NEVER
    session.tries = session.probe_tries = 0
    if session.is_quiet:
        session.come_back()
    if session.why:
        session.stop_probing(CONFIRM | SILENT)
    if source != session.address:
        session.station.answers.came(source, len(data))
        session.candidates().add(source)
    ack, first, records = reading
    if session.sender is not None:
        _acknowledge(session, ack, head[6], head[2], now)
    else:
        session.first_room = head[2]
    if records:
        _take(session, first, records)
    elif head[1] in _OTHERS:
        _OTHERS[head[1]](session, data, source)


def _acknowledge(session: Session, ack: int, sack: int, room: int, now: int) -> None:
    sender = session.sender
    assert sender is not None
    if ack < sender.acked:
        return  # an older datagram
    if room != sender.room:
        _change_room(session, room, now)
    if ack > sender.acked or sack or sender.sacked:
        if sender.acknowledge(ack, sack, now):
            if sender.records and sender.room and session.state != LEAVING:
                session.rto_at = now + sender.trip.wait
                session.set_timer(session.rto_at)
            else:
                session.rto_at = NEVER
                if session.is_closing:
                    session.leave_if_done()
        if not session.is_ready and sender.has_work:
            session.make_ready()


def _change_room(session: Session, room: int, now: int) -> None:
    sender = session.sender
    assert sender is not None
    sender.set_room(room)
    session.make_ready()
    if not room:
        session.rto_at = NEVER
        return
    session.stop_probing(ROOM)
    if session.rto_at == NEVER and sender.records and session.state != LEAVING:
        session.rto_at = now + sender.trip.wait
        session.set_timer(session.rto_at)


def _take(session: Session, first: int, records: list[bytes]) -> None:
    receiver = session.receiver or session.start_receiving()
    messages: list[bytes] = []
    is_news = receiver.take(first, records, messages)
    session.deliver(messages)
    if receiver.is_broken:
        session.break_off(Reason.BROKEN)
    else:
        session.note_records(is_news)


# ---- kinds without records


def _answer_probe(session: Session, data: bytes, source: Address) -> None:
    nonce = number(read_number(data))
    if source == session.address:
        session.send(PROBED, nonce)
    else:
        session.station.answer(session.datagram(PROBED, nonce), source)


def _note_probed(session: Session, data: bytes, source: Address) -> None:
    nonce = read_number(data)
    if source == session.address:
        session.note_probed(nonce)
    else:
        session.prove_path(source, nonce)


def _end(session: Session, data: bytes, source: Address) -> None:
    if session.state != LEAVING:
        session.send(BYE)
    session.station.end(session, Reason.CLOSED)


_OTHERS: Final = {PROBE: _answer_probe, PROBED: _note_probed, BYE: _end}
