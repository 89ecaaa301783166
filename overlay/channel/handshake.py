"""HELLO, WELCOME, RESET, and the first datagram of a half-open session: how sessions begin and are replaced.

::

    opener                              other end
      │ ── HELLO (me) ───────────────────> │   half open for 3 s; nothing is known for sure
      │ <───────────── WELCOME (my own) ── │
     up ── PROBE, or records ────────────> up  only who received the WELCOME can know the incarnation

An incarnation is told to one incarnation of the peer only. Otherwise records of a peer's former life, which still are
on their way, would be taken for those of its present one: a datagram names its receiver, not its sender.
"""

from __future__ import annotations

from overlay.channel import arrivals, wire
from overlay.channel.asking import OPENING
from overlay.channel.events import Reason, Up
from overlay.channel.half_open import HalfOpen
from overlay.channel.session import Session
from overlay.channel.settings import MOST_SESSIONS
from overlay.channel.station import Station
from overlay.core.addresses import Address


def take_hello(station: Station, head: arrivals.Head, data: bytes, end: int, source: Address) -> None:
    """Answer by WELCOME. The same HELLO gets the same answer. One that the limits of strangers leave without an answer
    is forgotten: many from one address would drive out those of others."""
    peer = wire.read_id(data, wire.HEAD_BYTES + 8, end)
    theirs = wire.read_number(data) if peer else 0
    if end < wire.HELLO_BYTES or not theirs:
        station.drop("hello")
        return
    if peer == station.id:
        station.drop("own_id")
        return
    station.answers.came(source, len(data))
    session = station.sessions.get(peer)
    ours = _ours_for(station, session, peer, theirs)
    room = station.limits.window if session is None else session.own_room
    is_told = station.answer(wire.welcome(theirs, ours, station.id, room), source)
    if not is_told or (session is not None and session.theirs == theirs):
        return
    station.half_open.keep(HalfOpen(peer, theirs, ours, head[2], station.now))
    station.deadlines.set(station.half_open, station.half_open.earliest())
    if session is not None and session.ours == ours:
        session.told = theirs


def _ours_for(station: Station, session: Session | None, peer: bytes, theirs: int) -> int:
    if session is not None and session.theirs == theirs:
        return session.ours
    known = station.half_open.find(peer, theirs)
    if known is not None:
        return known.ours
    if session is None or session.state != OPENING or session.is_redrawn or session.told not in (0, theirs):
        return station.draw()
    return session.ours


def take_welcome(station: Station, head: arrivals.Head, data: bytes, end: int, source: Address) -> None:
    """The session that we are opening is up, at the address that it was opened to."""
    peer = wire.read_id(data, wire.HEAD_BYTES + 8, end)
    theirs = wire.read_number(data) if peer else 0
    if not theirs or end != wire.HEAD_BYTES + 9 + len(peer):
        station.drop("welcome")
        return
    session = station.by_ours.get(head[3])
    if session is None or session.state != OPENING or session.peer != peer:
        station.drop("unasked")
        return
    known = station.half_open.find(peer, theirs)
    if known is not None and known.ours != session.ours:
        station.drop("crossed")  # it was told another incarnation, and comes up with that
    elif session.told not in (0, theirs):
        _redraw(station, session)
    else:
        if session.is_quiet:
            session.come_back()
        address = session.address
        _rise(station, session, theirs, address, head[2])
        if source != address:
            station.answers.came(source, len(data))
            session.candidates().add(source)
        session.confirm()


def _redraw(station: Station, session: Session) -> None:
    """Ours was told to a former life of the peer. From now on it is told to none: two ends that redraw would go on."""
    del station.by_ours[session.ours]
    session.ours, session.told, session.is_redrawn = station.draw(), 0, True
    station.by_ours[session.ours] = session
    session.begin()


def take_reset(station: Station, data: bytes, end: int) -> None:
    """The peer has no such session any more."""
    session = station.by_theirs.get(wire.read_number(data)) if end == wire.HEAD_BYTES + 8 else None
    if session is None:
        station.drop("reset")
    else:
        station.end(session, Reason.RESET)


def take_first(station: Station, head: arrivals.Head, data: bytes, end: int, source: Address) -> None:
    """A datagram of no session that is up: it raises a half-open one, or is answered by RESET."""
    one = station.half_open.get(head[3])
    if one is not None:
        _raise(station, one, head, data, end, source)
    elif head[3] in station.by_ours:
        station.drop("opening")
    else:
        station.drop("unknown")
        if head[3] and head[1] != wire.BYE:
            station.answers.came(source, len(data))
            station.answer(wire.reset(head[3]), source)


def _raise(station: Station, one: HalfOpen, head: arrivals.Head, data: bytes, end: int, source: Address) -> None:
    session = Session(station, one.peer, source, one.ours)
    reading = arrivals.read(session, head, data, end)
    old = station.sessions.get(one.peer)
    if isinstance(reading, str):
        station.drop(reading)
        return
    if old is None and len(station.sessions) >= MOST_SESSIONS:
        station.drop("full")
        return
    if old is not None and old.state == OPENING:
        session = old
        _rename(station, session, one.ours)
        if session.is_quiet:
            session.come_back()
    else:
        if old is not None:
            station.end(old, Reason.RESET)
        station.sessions[one.peer] = station.by_ours[one.ours] = session
    _rise(station, session, one.theirs, source, one.room)
    arrivals.accept(session, head, reading, data, source)


def _rename(station: Station, session: Session, ours: int) -> None:
    del station.by_ours[session.ours]
    session.ours = ours
    station.by_ours[ours] = session


def _rise(station: Station, session: Session, theirs: int, address: Address, room: int) -> None:
    station.half_open.forget(session.peer)
    session.rise(theirs, address, room)
    station.events.append(Up(session.peer, address))
    session.leave_if_done()
