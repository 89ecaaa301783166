"""Reliable, ordered messages between peers over datagrams. Pure; knows no system, socket or clock.

Start with ``channel``; ``docs/channel.md`` is the manual. A peer is an id, whatever its address; messages have 1 to
65,536 bytes. Each module imports only those below it::

        channel                                   the object that a node has
        handshake                                 HELLO, WELCOME, RESET: how sessions begin
        arrivals │ packing ── fast                datagrams of a session: in, out; the frequent cases
        session ── asking, endpoint               its state and timers; what it asks the peer
        station                                   what the sessions of a channel share
        sender ── outbox, round_trip │ receiver   the two directions of a session
        half_open │ paths │ answers               what is not proven: sessions, addresses
        deadlines │ events │ records │ wire
        settings
"""

from overlay.channel.channel import Channel
from overlay.channel.events import Back, Down, Event, Loose, Message, Moved, Quiet, Reason, Up
from overlay.channel.settings import ChannelSettings

__all__ = ["Back", "Channel", "ChannelSettings", "Down", "Event", "Loose", "Message", "Moved", "Quiet", "Reason", "Up"]
