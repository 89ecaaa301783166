"""One topic: what it shows, which values are withdrawn there, and what is to be published next. Pure.

::

    shows nothing ──(a valid entry)──> the value ──(a later value)──> that value
          ^                               │
          └── empty message <──(withdrawn, or its validity has ended)
"""

from __future__ import annotations

from overlay.systems.context_broker.mqtt.settings import Inlet
from overlay.systems.context_broker.mqtt.topics import Place
from overlay.systems.context_broker.mqtt.values import Value


class Clear:
    """An empty retained message, after which the topic shows nothing."""


CLEAR = Clear()
Publication = Value | Clear


MOST_WITHDRAWN = 16
"""Providers whose withdrawals a topic remembers."""


class Kept:
    """What all topics of a bridge keep together."""

    def __init__(self) -> None:
        self.bytes = 0
        """Of the payloads that they show."""


class Topic:
    __slots__ = (
        "_buried",
        "_kept",
        "due",
        "flying",
        "heard",
        "inlet",
        "is_out",
        "is_sure",
        "name",
        "place",
        "provided",
        "shown",
    )

    def __init__(self, name: str, place: Place, inlet: Inlet | None, kept: Kept, *, is_out: bool) -> None:
        self.name = name
        self._kept = kept
        self.place = place
        self.inlet = inlet
        """``None``: messages of others are not taken to the network."""
        self.is_out = is_out
        self.shown: Value | None = None
        """What the last message said; ``None`` if it was empty, unreadable, or is not known."""
        self.is_sure = False
        """Whether that is so since the last connection."""
        self.flying: Publication | None = None
        """What was published and is not yet received by the server."""
        self.heard = 0
        """Time of the last message that could not be read, Unix ms: entries older than that are not published."""
        self.provided: Value | None = None
        """The last value from here that a broker has stored."""
        self.due = 0
        """When it is looked at again without a change, Unix ms; 0: never."""
        self._buried: dict[str, tuple[int, int]] = {}

    def show(self, value: Value | None) -> None:
        """What a message said, or an accepted publication."""
        self._kept.bytes += _size(value) - _size(self.shown)
        self.shown, self.is_sure, self.heard = value, True, 0

    def show_unreadable(self, now_ms: int) -> None:
        self.show(None)
        self.heard = now_ms

    def bury(self, provider: str, timestamp: int, until: int) -> None:
        """A provider's values up to this timestamp are gone here, until they would have ended anyway."""
        known, known_until = self._buried.get(provider, (0, 0))
        self._buried[provider] = max(known, timestamp), max(known_until, until)
        if len(self._buried) > MOST_WITHDRAWN:
            del self._buried[min(self._buried, key=lambda name: self._buried[name][1])]

    def is_buried(self, value: Value) -> bool:
        return value.timestamp <= self.buried_to(value.provider)

    def buried_to(self, provider: str) -> int:
        """The timestamp of this provider's last value that is gone; 0 if none is."""
        return self._buried.get(provider, (0, 0))[0]

    def tidy(self, now_ms: int) -> None:
        """Forget withdrawals that nothing can contradict any more."""
        if self._buried:
            self._buried = {name: one for name, one in self._buried.items() if one[1] > now_ms}

    def next_end(self) -> int:
        """When something that it knows ends, Unix ms; 0: never."""
        ends = [until for _, until in self._buried.values()]
        if self.shown is not None and self.is_sure:
            ends.append(self.shown.valid_end)
        return min(ends, default=0)

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to remember."""
        return self.shown is None and self.flying is None and not self._buried and not self.heard

    def next_publication(self, wanted: Value | None, now_ms: int, slack_ms: int) -> Publication | None:
        """What brings the topic nearer to ``wanted``, the latest valid value of the network; ``None``: nothing."""
        shown = self.shown
        if shown is None or not self.is_sure:
            is_later = wanted is not None and wanted.timestamp > self.heard
            return wanted if is_later else None
        if wanted is not None and (wanted.is_news_to(shown, slack_ms) or wanted.says_the_same(shown, slack_ms)):
            return wanted if wanted.is_news_to(shown, slack_ms) else None
        return CLEAR if self.is_buried(shown) or shown.valid_end <= now_ms else None


def _size(value: Value | None) -> int:
    return 0 if value is None else len(value.payload)
