"""Reads the targets of faults: servers by number or name, islands, links, clients. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from overlay.core.chance import Stream, derive_seed
from overlay.core.errors import InvalidSetting, shown
from overlay.core.processes import role_of
from overlay.faults.faults import Direction, Ends

SERVERS = "servers"
"""The field of a document with servers by name."""

Clients = Callable[[], Collection[str]]
"""Returns the names of all clients, which few faults need."""


@dataclass(frozen=True, slots=True)
class Targets:
    """The servers, links and clients that a document can name; ``field`` is its name in errors. All methods raise
    ``InvalidSetting``."""

    field: str
    brokers: int
    """Nodes of the topology."""
    linked: frozenset[Ends]
    """The links of the topology."""
    index_of: Mapping[str, int]
    """All servers by name."""
    names_of_clients: Clients
    seed: int = 0
    """Of drawn clients."""

    def servers(self, document: Mapping[Any, Any], roles: Collection[str] = ()) -> tuple[int, ...]:
        """The indices of ``brokers`` and ``servers``, at least one, without duplicates, only of these roles if any."""
        found: list[int] = []
        if "brokers" in document:
            found += self._indices("brokers", document["brokers"], self._is_broker)
        if SERVERS in document:
            found += self._indices(SERVERS, document[SERVERS], lambda one: isinstance(one, str))
        if len(set(found)) < len(found):
            raise self._wrong(SERVERS, "names a server twice")
        names = dict(zip(self.index_of.values(), self.index_of, strict=True))
        wrong = [names[index] for index in found if roles and role_of(names[index]) not in roles]
        if wrong:
            place = SERVERS if wrong[0] in document.get(SERVERS, ()) else "brokers"
            raise self._wrong(place, f"cannot be {wrong[0]}; this fault is of {_or(roles)}")
        return tuple(found)

    def named(self, document: Mapping[Any, Any]) -> dict[int, str]:
        """The servers that the document names, by index."""
        texts = (text for place in (SERVERS, "islands", "links") for text in _texts(document.get(place)))
        return {self.index_of[text]: text for text in texts if text in self.index_of}

    def islands(self, value: object) -> tuple[tuple[int, ...], ...]:
        if not isinstance(value, list) or len(value) < 2:
            raise self._wrong("islands", "must be a list of two or more lists of brokers")
        islands = tuple(
            self._indices(f"islands.{index}", island, lambda one: isinstance(one, str) or self._is_broker(one))
            for index, island in enumerate(value)
        )
        if len({server for island in islands for server in island}) < sum(map(len, islands)):
            raise self._wrong("islands", "puts a broker on two islands")
        return islands

    def links(self, value: object, *, one_way: bool) -> frozenset[Ends] | frozenset[Direction] | None:
        if value == "all":
            return None
        if not isinstance(value, list) or not value:
            raise self._wrong("links", f"must be “all” or a list of pairs of brokers, not {shown(value)}")
        return frozenset(self._pair(f"links.{index}", pair, one_way) for index, pair in enumerate(value))

    def clients(self, value: object, roles: Collection[str]) -> tuple[str, ...]:
        """The names of clients, at least one, without duplicates, only of these roles. A number is a share of them,
        which is drawn."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._drawn(value, roles)
        if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
            raise self._wrong("clients", f"must be a list of names of clients or a share, not {shown(value)}")
        known = [name for name in self.names_of_clients() if role_of(name) in roles]
        for name in set(value) - set(known):
            raise self._wrong("clients", f"has no {shown(name)}; known are {_ranges(known) or 'none'}")
        if len(set(value)) < len(value):
            raise self._wrong("clients", "names a client twice")
        return tuple(value)

    def _drawn(self, share: float, roles: Collection[str]) -> tuple[str, ...]:
        if not 0 < share <= 1:
            raise self._wrong("clients", f"must be a share above 0 and at most 1, not {shown(share)}")
        names = [name for name in self.names_of_clients() if role_of(name) in roles]
        if not names:
            raise self._wrong("clients", f"cannot be drawn; there are no clients of {_or(roles)}")
        chance = Stream(derive_seed(self.seed, "fault", self.field))
        return tuple(
            names[place] for place in sorted(chance.sample(range(len(names)), max(1, round(share * len(names)))))
        )

    def _indices(self, name: str, value: object, fits: Callable[[object], bool]) -> tuple[int, ...]:
        if not isinstance(value, list) or not value or not all(map(fits, value)):
            brokers = f"must be a list of brokers from 0 to {self.brokers - 1}, not {shown(value)}"
            known = f"must be a list of names of servers, not {shown(value)}; known are {_ranges(self.index_of)}"
            raise self._wrong(name, known if name == SERVERS else brokers)
        indices = tuple(self._index(name, one) for one in value)
        if len(set(indices)) < len(indices):
            raise self._wrong(name, "names a broker twice")
        return indices

    def _index(self, name: str, server: Any) -> int:
        if isinstance(server, str) and server not in self.index_of:
            raise self._wrong(name, f"has no {shown(server)}; known are {_ranges(self.index_of) or 'none'}")
        index: int = self.index_of[server] if isinstance(server, str) else server
        return index

    def _is_broker(self, value: object) -> bool:
        most = min(self.brokers, len(self.index_of) or self.brokers)
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < most

    def _pair(self, name: str, pair: object, one_way: bool) -> Ends | Direction:
        if (
            not isinstance(pair, list)
            or len(pair) != 2
            or not all(isinstance(one, str) or self._is_broker(one) for one in pair)
        ):
            raise self._wrong(name, f"must be a pair of brokers, not {shown(pair)}")
        source, to = (self._index(name, one) for one in pair)
        ends = min(source, to), max(source, to)
        if source == to or (ends not in self.linked and not any(isinstance(one, str) for one in pair)):
            raise self._wrong(name, f"brokers {pair[0]} and {pair[1]} are not linked")
        return (source, to) if one_way else ends

    def _wrong(self, name: str, sentence: str) -> InvalidSetting:
        return InvalidSetting(f"{self.field}.{name}", sentence)


def _texts(value: object) -> Iterator[str]:
    """All texts in nested lists."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _or(words: Iterable[str]) -> str:
    return " or ".join(words)


def _ranges(names: Iterable[str]) -> str:
    """``broker-0 to broker-9, directory-0``."""
    firsts: dict[str, str] = {}
    lasts: dict[str, str] = {}
    for name in names:
        firsts.setdefault(role_of(name), name)
        lasts[role_of(name)] = name
    return ", ".join(first if first == lasts[role] else f"{first} to {lasts[role]}" for role, first in firsts.items())
