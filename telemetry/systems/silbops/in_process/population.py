"""The clients of a workload and what they do: filters, positions and notifications, as simulated and live runs draw
them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import cycle, islice

from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.load.draws import PUBLISHERS, SUBSCRIBERS, Draws
from overlay.systems.silbops.workload import JUMP, Workload

Event = tuple[Values, Values]
"""A notification and the context of its publisher."""


class Population:
    def __init__(self, workload: Workload, seed: int) -> None:
        self.workload, self._draws = workload, Draws(workload, seed)
        numbers = range(workload.subscribers)
        self.places: list[Values] = [next(self._contexts(SUBSCRIBERS, number)) for number in numbers]
        """Where subscribers begin."""
        self._moving: dict[int, Iterator[Values]] = {}
        publishers = range(workload.publishers)
        contents = [self._draws.notifications(number) for number in publishers]
        self._events = cycle(zip(contents, (self._contexts(PUBLISHERS, number) for number in publishers), strict=True))

    @cached_property
    def filters(self) -> list[list[Filter]]:
        """By subscriber."""
        return [self.filters_of(number) for number in range(self.workload.subscribers)]

    def filters_of(self, subscriber: int) -> list[Filter]:
        """Drawn again, and not kept."""
        return self._draws.filters(subscriber)

    def moved(self, subscriber: int) -> Values:
        """Its next context."""
        if subscriber not in self._moving:
            self._moving[subscriber] = islice(self._contexts(SUBSCRIBERS, subscriber), 1, None)
        return next(self._moving[subscriber])

    def event(self) -> Event:
        """The next publication, of publishers in turn."""
        contents, contexts = next(self._events)
        return next(contents), next(contexts)

    def _contexts(self, kind: str, client: int) -> Iterator[Values]:
        return self._draws.contexts(kind, client, self.workload.context_interval_s)


def evenly(subscriptions: int, subscribers: int = 0) -> Workload:
    """So many in all, by default ten for each subscriber; a publisher is elsewhere at each publication."""
    return Workload(
        subscriptions=subscriptions, subscribers=subscribers or -(-subscriptions // 10), publisher_mobility=JUMP
    )
