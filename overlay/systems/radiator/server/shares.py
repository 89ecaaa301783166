"""Who may have how many of the messages that a server retains.

Half of them is for whoever comes first. The other half is divided: a source may keep there an equal part of what is
still free, and each of its clients an equal part of that; both at least one. So a source that floods leaves room for
all others, and none is limited while there is enough for all. The rule is a dynamic threshold (Choudhury and Hahne,
"Dynamic queue length thresholds for shared-memory packet switches", 1998), by the number of sources.

On the server's machine each client is a source, named by its place in the table, and a program that leaves and
registers again has a new place. So a newcomer there takes over the part of one that left while messages of it are
retained: such sources are never more than were registered there at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import NamedTuple

from overlay.systems.radiator.clients.table import Caller
from overlay.systems.radiator.wire.messages import Acceptance


class _Kept(NamedTuple):
    source: Hashable
    client: int
    is_divided: bool


class Shares:
    """Of ``most`` messages."""

    def __init__(self, most: int) -> None:
        self._divided_most = most // 2
        self._common_most = most - self._divided_most
        self._kept: dict[int, _Kept] = {}
        self._common = 0
        self._by_source: Counter[Hashable] = Counter()
        """Messages in the divided half."""
        self._by_client: Counter[Hashable] = Counter()
        self._all_by_client: Counter[Hashable] = Counter()
        """In both halves."""
        self._left: dict[Hashable, None] = {}
        """Parts of the divided half in which local clients that left still have messages, the oldest first."""
        self._heirs: dict[int, Hashable] = {}
        """The part that a registered local client took over."""

    def __len__(self) -> int:
        return len(self._kept)

    def of_client(self, client: int) -> int:
        """How many of its messages are retained."""
        return self._all_by_client[client]

    def enter(self, place: int) -> None:
        """A client has registered on the server's machine."""
        if self._left:
            self._heirs[place] = next(iter(self._left))
            del self._left[self._heirs[place]]

    def leave(self, place: int) -> None:
        """It is in the table no longer. What it sent may still be retained."""
        part = self._heirs.pop(place, place)
        if self._by_source[part]:
            self._left[part] = None

    def _part_of(self, source: Hashable) -> Hashable:
        return self._heirs.get(source, source) if isinstance(source, int) else source

    def refusal(self, caller: Caller) -> Acceptance | None:
        """Why one more message is refused; ``None`` if it is not."""
        if self._common < self._common_most:
            return None
        free = self._divided_most - (len(self._kept) - self._common)
        if free <= 0:
            return Acceptance.BUSY
        part = max(1, free // (caller.sources + len(self._by_source)))  # those that left count by what they left
        is_over = self._by_source[self._part_of(caller.source)] >= part
        is_over |= self._by_client[caller.client] >= max(1, part // caller.siblings)
        return Acceptance.OVER_SHARE if is_over else None

    def keep(self, number: int, caller: Caller) -> None:
        """A message that was not refused is retained."""
        is_divided = self._common >= self._common_most
        source = self._part_of(caller.source)
        self._kept[number] = _Kept(source, caller.client, is_divided)
        self._all_by_client[caller.client] += 1
        if is_divided:
            self._by_source[source] += 1
            self._by_client[caller.client] += 1
        else:
            self._common += 1

    def let_go(self, numbers: Iterable[int]) -> None:
        """Messages that are retained no longer, of which some may never have been."""
        for kept in filter(None, (self._kept.pop(number, None) for number in numbers)):
            _take_one(self._all_by_client, kept.client)
            if kept.is_divided:
                _take_one(self._by_source, kept.source)
                _take_one(self._by_client, kept.client)
                if kept.source not in self._by_source:
                    self._left.pop(kept.source, None)
            else:
                self._common -= 1

    def check_invariants(self) -> None:
        divided = [kept for kept in self._kept.values() if kept.is_divided]
        assert 0 <= self._common == len(self._kept) - len(divided) <= self._common_most
        assert len(divided) <= self._divided_most
        assert self._by_source == Counter(kept.source for kept in divided)
        assert self._by_client == Counter(kept.client for kept in divided)
        assert all(self._by_source[part] for part in self._left)
        assert self._left.keys().isdisjoint(self._heirs.values())
        assert len(set(self._heirs.values())) == len(self._heirs), "a part has one heir"
        assert self._all_by_client == Counter(kept.client for kept in self._kept.values())


def _take_one(counts: Counter[Hashable], key: Hashable) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
