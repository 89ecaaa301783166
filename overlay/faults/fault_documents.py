"""Reads and checks documents of faults. Pure. Counterpart: ``overlay.faults.faults``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from overlay.core.errors import InvalidSetting
from overlay.core.link_shapes import in_words
from overlay.core.links import LinkShape
from overlay.core.settings import describe
from overlay.faults.faults import (
    IMPAIRED,
    KILL,
    MAX_FAULTS,
    OF_LINKS,
    PARTITION,
    RESTART,
    SHAPES,
    Direction,
    Ends,
    Fault,
)

WHERE: Mapping[str, str] = {
    KILL: "brokers",
    RESTART: "brokers",
    PARTITION: "islands",
    **dict.fromkeys(OF_LINKS, "links"),
}
"""By kind: the field of a document with the brokers or links."""

_SETTINGS = {info.name: info for info in describe(LinkShape)}
_DOES = ("delay_ms", "loss", "duplication", "reordering", "corruption", "rate_bytes_per_s", "partition")
"""Settings that have an effect by themselves."""


def read(documents: object, brokers: int, links: Iterable[Ends], duration_s: float) -> tuple[Fault, ...]:
    """The faults in ``documents``, for an overlay of ``brokers`` brokers with these links.

    Raises ``InvalidSetting`` with the dotted name of the first field that is invalid, missing or unknown.
    """
    if not isinstance(documents, list):
        raise InvalidSetting("faults", f"must be a list of objects, not {_shown(documents)}")
    if len(documents) > MAX_FAULTS:
        raise InvalidSetting("faults", f"are {len(documents)}; at most {MAX_FAULTS} are allowed")
    known = frozenset(links) if documents else frozenset()
    return tuple(
        _Reader(f"faults.{index}", brokers, known, duration_s).fault(document)
        for index, document in enumerate(documents)
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one document; ``field`` is its name in errors."""

    field: str
    brokers: int
    links: frozenset[Ends]
    duration_s: float

    def fault(self, document: object) -> Fault:
        if not isinstance(document, Mapping):
            raise InvalidSetting(self.field, f"must be an object, not {_shown(document)}")
        what = document.get("what")
        if not isinstance(what, str) or what not in WHERE:
            raise self._wrong("what", f"must be one of {', '.join(WHERE)}, not {_shown(what)}")
        where, shaped = WHERE[what], SHAPES.get(what, ())
        needed, optional = {"what", "at_s", where}, set() if what == RESTART else {"until_s"}
        (optional if what == IMPAIRED else needed).update(shaped)
        if what in OF_LINKS:
            optional.add("one_way")
        for name in sorted(needed - document.keys()):
            raise self._wrong(name, "is missing")
        for name in document:
            if name not in needed | optional:
                known = ", ".join(sorted(needed | optional))
                raise self._wrong(str(name)[:60], f"is unknown; “{what}” has {known}")
        at_s = self._number("at_s", document["at_s"], 0, self.duration_s)
        until_s = document.get("until_s")
        if until_s is not None:
            until_s = self._number("until_s", until_s, 0, self.duration_s)
            if until_s <= at_s:
                raise self._wrong("until_s", f"{until_s:g} s must be after at_s, {at_s:g} s")
        one_way = self._one_way(document)
        readers: dict[str, Callable[[object], Any]] = {
            "brokers": lambda value: self._indices("brokers", value),
            "islands": self._islands,
            "links": lambda value: self._links(value, one_way),
        }
        found = {where: readers[where](document[where])}
        if one_way:
            found["one_way"] = True
        if shaped:
            found["shape"] = self._shape(what, {name: document[name] for name in shaped if name in document})
        return Fault(what, at_s, until_s, **found)

    def _shape(self, what: str, values: Mapping[str, Any]) -> LinkShape:
        try:
            for name, value in values.items():
                _SETTINGS[name].check(value)
            shape = LinkShape(**{name: _like_default(name, value) for name, value in values.items()})
        except InvalidSetting as error:
            raise self._wrong(error.field, error.sentence) from None
        if what == IMPAIRED and not in_words(shape):
            raise InvalidSetting(self.field, f"has no effect on links; set one of {', '.join(_DOES)}")
        return shape

    def _wrong(self, name: str, sentence: str) -> InvalidSetting:
        return InvalidSetting(f"{self.field}.{name}", sentence)

    def _number(self, name: str, value: object, low: float, high: float) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self._wrong(name, f"must be a number, not {_shown(value)}")
        if not low <= value <= high:
            raise self._wrong(name, f"must be from {low:g} to {high:g}, not {_shown(value)}")
        return float(value)

    def _indices(self, name: str, value: object) -> tuple[int, ...]:
        """Indices of brokers, at least one, without duplicates."""
        if not isinstance(value, list) or not value or not all(map(self._is_broker, value)):
            raise self._wrong(name, f"must be a list of brokers from 0 to {self.brokers - 1}, not {_shown(value)}")
        if len(set(value)) < len(value):
            raise self._wrong(name, "names a broker twice")
        return tuple(value)

    def _is_broker(self, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < self.brokers

    def _islands(self, value: object) -> tuple[tuple[int, ...], ...]:
        if not isinstance(value, list) or len(value) < 2:
            raise self._wrong("islands", "must be a list of two or more lists of brokers")
        islands = tuple(self._indices(f"islands.{index}", island) for index, island in enumerate(value))
        if len({broker for island in islands for broker in island}) < sum(map(len, islands)):
            raise self._wrong("islands", "puts a broker on two islands")
        return islands

    def _one_way(self, document: Mapping[Any, Any]) -> bool:
        one_way = document.get("one_way", False)
        if not isinstance(one_way, bool):
            raise self._wrong("one_way", f"must be true or false, not {_shown(one_way)}")
        if one_way and document["links"] == "all":
            raise self._wrong("one_way", "requires a list of links, since “all” has no direction")
        return one_way

    def _links(self, value: object, one_way: bool) -> frozenset[Ends] | frozenset[Direction] | None:
        if value == "all":
            return None
        if not isinstance(value, list) or not value:
            raise self._wrong("links", f"must be “all” or a list of pairs of brokers, not {_shown(value)}")
        return frozenset(self._pair(f"links.{index}", pair, one_way) for index, pair in enumerate(value))

    def _pair(self, name: str, pair: object, one_way: bool) -> Ends | Direction:
        if not isinstance(pair, list) or len(pair) != 2 or not all(map(self._is_broker, pair)):
            raise self._wrong(name, f"must be a pair of brokers, not {_shown(pair)}")
        source, to = pair
        ends = min(source, to), max(source, to)
        if ends not in self.links:
            raise self._wrong(name, f"brokers {source} and {to} are not linked")
        return (source, to) if one_way else ends


def _shown(value: object) -> str:
    return f"{value!r:.60}"


def _like_default(name: str, value: Any) -> Any:
    return float(value) if _SETTINGS[name].kind == "number" else value
