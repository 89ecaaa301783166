"""Garbage in cycles, collected when there may be as much of it as of everything else, and not before.

Python's collector looks through all objects whenever a quarter is new: with 100,000 brokers, most of the time that it
takes to start them and a fifth of a run. A step leaves nothing in a cycle behind. A broker that ended is one, and so is
collected once as many objects are new as were known before: each is then looked at twice on average, ever.
"""

from __future__ import annotations

import gc
from types import TracebackType

LEAST = 1_000_000
"""New objects that are always too few to look."""


class Collector:
    """In its context Python's own collector rests, and ``look`` is called now and then."""

    def __init__(self) -> None:
        self._was_enabled = False
        self._known = 0
        """Objects that were there when last looked."""

    def __enter__(self) -> Collector:
        self._was_enabled = gc.isenabled()
        gc.disable()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._was_enabled:
            gc.enable()

    def look(self) -> None:
        """Collect, if it is time to."""
        new = gc.get_count()[0]
        if new > max(LEAST, self._known):
            self._known += new - gc.collect()
