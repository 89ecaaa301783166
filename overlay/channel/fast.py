"""The frequent cases in few steps: one whole record in order, an acknowledgement, one message to send.

Each function does exactly what the general path does (``arrivals``, ``packing``), or nothing and returns ``False``.
``tests/channel/test_fast.py`` compares both.
"""

from __future__ import annotations

from overlay.channel.asking import UP
from overlay.channel.endpoint import ACK_AFTER
from overlay.channel.events import Message
from overlay.channel.outbox import Droppable
from overlay.channel.records import record
from overlay.channel.sender import Sender
from overlay.channel.session import Session
from overlay.channel.wire import DATA, HEAD, HEAD_BYTES, LOW, MAGIC, seal
from overlay.core.addresses import Address
from overlay.core.node import NEVER

Head = tuple[int, int, int, int, int, int, int]
"""Magic, kind, room, to, seq, ack, sack."""


def take(session: Session, head: Head, data: bytes, end: int, source: Address) -> bool:
    """DATA with one whole record in order, or ACK, of a peer with which nothing special is going on."""
    sender, receiver = session.sender, session.receiver
    if (
        receiver is None
        or session.state != UP
        or session.why
        or session.is_quiet
        or session.is_closing
        or source != session.address
    ):
        return False
    _, kind, room, _, seq, ack, sack = head
    if kind == DATA:
        if (
            receiver.got
            or receiver.is_paused
            or receiver.parts
            or seq != (receiver.ack + 1) & LOW
            or end < HEAD_BYTES + 3
            or (data[28] << 8 | data[29]) != end - HEAD_BYTES - 2  # several records, or one that goes on
        ):
            return False
    elif end != HEAD_BYTES:
        return False
    if sender is None:
        if ack or room != session.first_room:
            return False
    elif sack or sender.sacked or room != sender.room or not _acknowledge(session, sender, ack):
        return False
    station = session.station
    now = session.heard_at = station.now
    session.asked_at = NEVER
    session.tries = session.probe_tries = 0
    if kind == DATA:
        receiver.ack += 1
        station.events.append(Message(session.peer, data[HEAD_BYTES + 2 : end]))
        session.unshown += 1
        if session.unshown > 1:
            session.ack_due = True
            session.make_ready()
        else:
            session.ack_at = at = now + ACK_AFTER
            if at < session.queued_at:
                session.set_timer(at)
    return True


def _acknowledge(session: Session, sender: Sender, ack: int) -> bool:
    """Whether it is the last one again, or shows records that are under way."""
    covered = ack - (sender.acked & LOW)
    if not covered:
        return True
    if not 0 < covered <= len(sender.records):
        return False
    now = session.station.now
    sender.acknowledge(sender.acked + covered, 0, now)
    if sender.records:
        session.rto_at = at = now + sender.trip.wait
        if at < session.queued_at:
            session.set_timer(at)
    else:
        session.rto_at = NEVER
    if not session.is_ready and sender.has_work:
        session.make_ready()
    return True


def send(session: Session, sender: Sender) -> bool:
    """The only message that waits, in one record, with nothing to send again."""
    outbox, records, station = sender.outbox, sender.records, session.station
    waiting, limits, count = outbox.waiting, station.limits, len(records)
    entry = waiting[0]
    message = entry.message if isinstance(entry, Droppable) else entry
    if len(waiting) > 1 or sender.runs or message is None or len(message) > limits.record:
        return False
    if count >= sender.room or count >= limits.window or outbox.rest:
        return False
    outbox.clear()
    now, receiver, one = station.now, session.receiver, record(message)
    sender.datagram += 1
    records.append(one)
    sender.flights.append((sender.datagram, now, False))
    number = (sender.acked + count + 1) & LOW
    if receiver is None:
        data = HEAD.pack(MAGIC, DATA, limits.window, session.theirs, number, 0, 0) + one
    else:
        sack = receiver.sack if receiver.got else 0
        data = HEAD.pack(MAGIC, DATA, receiver.room, session.theirs, number, receiver.ack & LOW, sack) + one
    station.out.append((seal(data, station.key) if station.key else data, session.address))
    if session.unshown:
        session.unshown, session.ack_due, session.ack_at = 0, False, NEVER
    if session.rto_at == NEVER:
        session.rto_at = at = now + sender.trip.wait
        if at < session.queued_at:
            session.set_timer(at)
    if session.asked_at == NEVER:
        session.asked_at = now
        at = now + limits.give_up
        if at < session.queued_at:
            session.set_timer(at)
    return True
