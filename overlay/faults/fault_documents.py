"""Reads and checks documents of faults. Pure. Counterparts: ``overlay.faults.faults``, ``overlay.faults.targets``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from overlay.core.errors import InvalidSetting, shown, within
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
    Ends,
    Fault,
)
from overlay.faults.kinds import FaultKind
from overlay.faults.targets import SERVERS, Clients, Targets

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


def read(
    documents: object,
    brokers: int,
    links: Iterable[Ends],
    duration_s: float,
    *,
    servers: Sequence[str] = (),
    kinds: Mapping[str, FaultKind] | None = None,
    clients: Clients = tuple,
    seed: int = 0,
) -> tuple[Fault, ...]:
    """The faults in ``documents``, for a topology of ``brokers`` nodes with these links.

    ``servers`` are the names of all servers; the first ones are the nodes of the topology. ``kinds`` are the faults of
    the system. ``clients`` returns the names of all clients, and shares of them are drawn with ``seed``. Raises
    ``InvalidSetting`` with the dotted name of the first field that is invalid, missing or unknown.
    """
    if not isinstance(documents, list):
        raise InvalidSetting("faults", f"must be a list of objects, not {shown(documents)}")
    if len(documents) > MAX_FAULTS:
        raise InvalidSetting("faults", f"are {len(documents)}; at most {MAX_FAULTS} are allowed")
    if not documents:
        return ()
    index_of = {name: index for index, name in enumerate(servers)}
    known = Targets("", brokers, frozenset(links), index_of, clients, seed)
    return tuple(
        _Reader(f"faults.{index}", replace(known, field=f"faults.{index}"), kinds or {}, duration_s).fault(document)
        for index, document in enumerate(documents)
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one document; ``field`` is its name in errors."""

    field: str
    targets: Targets
    kinds: Mapping[str, FaultKind]
    duration_s: float

    def fault(self, document: object) -> Fault:
        if not isinstance(document, Mapping):
            raise InvalidSetting(self.field, f"must be an object, not {shown(document)}")
        what = document.get("what")
        if not isinstance(what, str) or what not in {**WHERE, **self.kinds}:
            raise self._wrong("what", f"must be one of {', '.join([*WHERE, *self.kinds])}, not {shown(what)}")
        if kind := self.kinds.get(what):
            return self._of_system(what, kind, document)
        where, shaped = WHERE[what], SHAPES.get(what, ())
        needed, optional = {"what", "at_s", where}, set() if what == RESTART else {"until_s"}
        if where == "brokers" and SERVERS in document:  # either is enough
            needed.remove(where)
            optional.add(where)
        (optional if what == IMPAIRED else needed).update(shaped)
        if what in OF_LINKS:
            optional.add("one_way")
        self._check_names(what, document, needed, optional)
        found: dict[str, Any] = {}
        if where == "brokers":
            found["servers"] = self.targets.servers(document)
        elif where == "islands":
            found["islands"] = self.targets.islands(document[where])
        else:
            found["one_way"] = self._one_way(document)
            found["links"] = self.targets.links(document[where], one_way=found["one_way"])
        if shaped:
            found["shape"] = self._shape(what, {name: document[name] for name in shaped if name in document})
        return Fault(what, *self._times(document), named=self.targets.named(document), **found)

    def _of_system(self, what: str, kind: FaultKind, document: Mapping[Any, Any]) -> Fault:
        places = {"brokers", SERVERS} if kind.servers else set()
        places |= {"clients"} if kind.clients else set()
        names = {info.name for info in kind.fields}
        self._check_names(what, document, {"what", "at_s"}, places | names | ({"until_s"} if kind.lasts else set()))
        if places and not places & document.keys():
            raise self._wrong(next(iter(sorted(places))), "is missing")
        with within(self.field):
            values = kind.read({name: document[name] for name in names if name in document})
        return Fault(
            what,
            *self._times(document),
            servers=self.targets.servers(document, kind.servers) if document.keys() & {"brokers", SERVERS} else (),
            named=self.targets.named({SERVERS: document.get(SERVERS)}),
            clients=self.targets.clients(document["clients"], kind.clients) if "clients" in document else (),
            values=values,
            kind=kind,
        )

    def _check_names(self, what: str, document: Mapping[Any, Any], needed: set[str], optional: set[str]) -> None:
        """A mistyped time is named, and not that the time is missing."""
        for name in sorted(needed - document.keys() - {"at_s"}):
            raise self._wrong(name, "is missing")
        known = needed | optional | ({SERVERS} if WHERE.get(what) == "brokers" else set())
        for name in document:
            if name not in known:
                raise self._wrong(str(name)[:60], f"is unknown; “{what}” has {', '.join(sorted(known))}")
        if "at_s" not in document:
            raise self._wrong("at_s", "is missing")

    def _times(self, document: Mapping[Any, Any]) -> tuple[float, float | None]:
        at_s = self._number("at_s", document["at_s"], 0, self.duration_s)
        until_s = document.get("until_s")
        if until_s is not None:
            until_s = self._number("until_s", until_s, 0, self.duration_s)
            if until_s <= at_s:
                raise self._wrong("until_s", f"{until_s:g} s must be after at_s, {at_s:g} s")
        return at_s, until_s

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
            raise self._wrong(name, f"must be a number, not {shown(value)}")
        if not low <= value <= high:
            raise self._wrong(name, f"must be from {low:g} to {high:g}, not {shown(value)}")
        return float(value)

    def _one_way(self, document: Mapping[Any, Any]) -> bool:
        one_way = document.get("one_way", False)
        if not isinstance(one_way, bool):
            raise self._wrong("one_way", f"must be true or false, not {shown(one_way)}")
        if one_way and document["links"] == "all":
            raise self._wrong("one_way", "requires a list of links, since “all” has no direction")
        return one_way


def _like_default(name: str, value: Any) -> Any:
    return float(value) if _SETTINGS[name].kind == "number" else value
