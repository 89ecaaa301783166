"""What followed from a message of a client, broker by broker.

A *step* is all that a broker processed at one instant about one client. What it told neighbours at that instant about
that client follows from it, and so do the steps in which these process that. Nothing else does: when a neighbour is
told again, as it is back or a publisher has come near, another step is why.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from overlay.systems.silbops.rows import Processed, Told


class Step(NamedTuple):
    broker: str
    publisher: str
    at_us: int


class Effects:
    def __init__(self, processed: Iterable[Processed], told: Iterable[Told]) -> None:
        self.firsts: dict[str, list[Step]] = defaultdict(list)
        """By client, the steps in which a broker heard of it by itself, in order."""
        self._next: dict[Step, list[Step]] = defaultdict(list)
        heard: dict[tuple[str, str, str, str, int], list[int]] = defaultdict(list)
        sent: dict[tuple[str, str, str, str, int], list[int]] = defaultdict(list)
        for one in processed:
            if one.sender:
                heard[one.sender, one.broker, one.publisher, one.kind, one.number].append(one.processed_us)
            else:
                self.firsts[one.publisher].append(Step(one.broker, one.publisher, one.processed_us))
        for each in told:
            sent[each.broker, each.to, each.publisher, each.kind, each.number].append(each.told_us)
        for steps in self.firsts.values():
            steps.sort(key=lambda step: step.at_us)
        for way, times in heard.items():
            broker, to, publisher, *_ = way
            for told_us, heard_us in _pairs(sent[way], times):
                self._next[Step(broker, publisher, told_us)].append(Step(to, publisher, heard_us))

    def end_us(self, first: Step) -> int:
        """When the last step that followed was."""
        known, waiting = {first}, [first]
        while waiting:
            for step in self._next.get(waiting.pop(), ()):
                if step not in known:
                    known.add(step)
                    waiting.append(step)
        return max(step.at_us for step in known)


def _pairs(sent: Sequence[int], heard: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Each message that was heard, and when it was sent: in order, from the last on, since what a session took with it
    when it ended is told again."""
    left = sorted(sent)
    for at in sorted(heard, reverse=True):
        while left and left[-1] > at:
            left.pop()
        if left:
            yield left.pop(), at
