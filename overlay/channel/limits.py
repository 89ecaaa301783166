"""The settings of a channel in the units of its code."""

from __future__ import annotations

from functools import lru_cache
from math import ceil

from overlay.channel.settings import PATH_PROBES, ChannelSettings
from overlay.core.node import NEVER, SECOND


class Limits:
    __slots__ = ("give_up", "path_probes", "probe", "queue", "record", "space", "tries", "window")

    def __init__(self, settings: ChannelSettings, seal: int) -> None:
        """``seal`` is the bytes after each datagram."""
        self.window, self.queue, self.tries = settings.window, settings.queue, settings.tries
        self.space = settings.frame - seal - 28
        """Bytes of records in one datagram."""
        self.record = min(self.space - 2, 32_767)
        """Bytes of a message in one record."""
        self.give_up = _ns(settings.give_up_s)
        self.probe = _ns(settings.probe_s)
        self.path_probes = settings.tries or PATH_PROBES


@lru_cache(maxsize=64)
def limits(settings: ChannelSettings, seal: int) -> Limits:
    """Of equal settings only one: nodes may be many."""
    return Limits(settings, seal)


def _ns(seconds: float) -> int:
    """Nanoseconds, ``NEVER`` for 0."""
    return ceil(seconds * SECOND) or NEVER
