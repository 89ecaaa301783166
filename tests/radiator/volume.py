"""A small aggregator for transcripts: each recipient gets its messages in lists of ``volume``."""

from __future__ import annotations

from overlay.core.binary import canonical, read_untrusted
from overlay.core.errors import WireError
from overlay.core.node import MILLISECOND
from overlay.systems.radiator.server.aggregator import Emission


class Volume:
    """``server`` is set after it is made."""

    def __init__(self, volume=1, echo=True, wait_ms=0):
        self.volume, self.echo, self.wait = volume, echo, wait_ms * MILLISECOND
        self.server = None
        self.contexts = {}
        self.pending = {}
        self.since = {}
        self.due = 0

    @property
    def retained(self):
        return len({number for pending in self.pending.values() for number in pending})

    def is_retained(self, number):
        return any(number in pending for pending in self.pending.values())

    def read(self, body):
        context = read_untrusted(body)
        if not isinstance(context, dict):
            raise WireError("a context is an object")
        return context

    def accept(self, number, sender, context, now):
        self.contexts[number] = context
        due = []
        for entry in self.server.clients.reachable:
            if self.echo or entry is not sender:
                self.pending.setdefault(entry.key, []).append(number)
                self.since.setdefault(entry.key, now)
                if len(self.pending[entry.key]) >= self.volume:
                    due.append(entry)
        return self.emitted(due)

    def emitted(self, entries):
        found = {}
        for entry in entries:
            found.setdefault(tuple(self.pending.pop(entry.key)), []).append(entry)
            del self.since[entry.key]
        return [Emission(messages, self.body(messages), to) for messages, to in found.items()]

    def body(self, messages):
        return canonical([self.contexts[number] for number in messages])

    def change(self, entry, now):
        assert entry.key not in self.pending or entry.is_reachable

    def drop(self, entry, now):
        self.since.pop(entry.key, None)
        return self.pending.pop(entry.key, ())

    def halve(self, emission):
        messages, _, recipients, _ = emission
        halves = messages[: len(messages) // 2], messages[len(messages) // 2 :]
        return tuple(Emission(half, self.body(half), recipients) for half in halves)

    def next_timer(self):
        return min(self.since.values()) + self.wait if self.wait and self.since else None

    def check_invariants(self): ...
    def handle_timer(self, now):
        if not self.wait:
            return []
        due = [key for key, since in self.since.items() if since + self.wait <= now]
        return self.emitted([self.server.clients.get(key) for key in due])


def read_any(body):
    """The contexts of a body, whatever they are."""
    value = read_untrusted(body)
    return value if isinstance(value, list) else [value]
