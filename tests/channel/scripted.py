"""Chance that gives what a test says, and two channels side by side without a network."""

from __future__ import annotations

from overlay.channel import Channel, ChannelSettings
from overlay.core.chance import Stream
from overlay.core.node import MILLISECOND

A, B = 0x1111111111111111, 0x2222222222222222
B0, B1 = ("10.0.0.1", 7000), ("10.0.0.2", 7000)
MS = MILLISECOND


class Scripted:
    """Gives the numbers one by one, then draws."""

    def __init__(self, *numbers):
        self.numbers = list(numbers)
        self.stream = Stream(1)

    def random(self):
        return self.stream.random()

    def randrange(self, stop):
        return self.numbers.pop(0) if self.numbers else self.stream.randrange(stop)

    def sample(self, population, k):
        return self.stream.sample(population, k)


class Pair:
    """``b0`` has opened a session with ``b1``; datagrams are handed over at once."""

    def __init__(self, settings=None, key=None, other=None, keep=False, is_up=True):
        settings = settings or ChannelSettings()
        self.b0 = Channel(b"b0", settings, Scripted(A), key)
        self.b1 = Channel(b"b1", other or settings, Scripted(B), key)
        self.now = 0
        self.log = {B0: [], B1: []}
        self.sent = []
        """Datagrams as (bytes, source, to)."""
        self.b0.open(b"b1", B1, self.now, keep=keep)
        if is_up:
            self.exchange()
            self.log = {B0: [], B1: []}
            self.sent.clear()

    def drain(self, end):
        """The datagrams that one end sends now."""
        channel, source = (self.b0, B0) if end is self.b0 else (self.b1, B1)
        out = channel.datagrams_to_send()
        self.sent += [(data, source, to) for data, to in out]
        self.log[source] += channel.events()
        channel.check_invariants()
        return out

    def give(self, datagrams, end, source=None):
        """Hand datagrams over to one end."""
        came_from = B1 if end is self.b0 else B0
        for data, _ in datagrams:
            end.receive(data, source or came_from, self.now)
            end.check_invariants()
        self.log[B0 if end is self.b0 else B1] += end.events()

    def exchange(self):
        """Until neither has anything to send."""
        while (there := self.drain(self.b0)) or (back := self.drain(self.b1)):
            if there:
                self.give(there, self.b1)
            else:
                self.give(back, self.b0)

    def wait(self, ms):
        """Let time pass, with all timers; what they send arrives."""
        end = self.now + round(ms * MS)
        self.exchange()
        while True:
            due = [t for t in (self.b0.next_timer(), self.b1.next_timer()) if t is not None and t <= end]
            if not due:
                break
            self.now = max(self.now, min(due))
            for channel in (self.b0, self.b1):
                timer = channel.next_timer()
                if timer is not None and timer <= self.now:
                    channel.handle_timer(self.now)
            self.exchange()
        self.now = end

    def messages(self, end):
        events = self.log[B0 if end is self.b0 else B1]
        return [event.message for event in events if type(event).__name__ == "Message"]


def session_of(channel, peer):
    """Its inner state, for what cannot be seen from outside."""
    return channel._station.sessions[peer]


def number_from(pair, number):
    """Records from b0 to b1 have the numbers after ``number``; none was sent yet."""
    there, back = session_of(pair.b0, b"b1"), session_of(pair.b1, b"b0")
    (there.sender or there.start_sending()).acked = number
    (back.receiver or back.start_receiving()).ack = number
