"""Faults as form rows: kind, target, amount, start and end. Counterpart: ``overlay.faults.faults``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Any

from django.http import QueryDict

from brokerweb.builder import fault_texts
from brokerweb.kit.setting_forms import Input
from overlay.core.errors import InvalidSetting
from overlay.core.links import LinkShape
from overlay.core.settings import SettingInfo, describe
from overlay.faults.fault_documents import WHERE
from overlay.faults.faults import IMPAIRED, KILL, LOSSY, OF_LINKS, PARTITION, RESTART, SLOW
from overlay.faults.kinds import FaultKind
from overlay.systems.roles import SERVER, Title
from telemetry.formatting import words

AMOUNT = {SLOW: "delay_ms", LOSSY: "loss"}
"""The amount field of each kind."""
SAID = {
    KILL: "Kill {servers}",
    RESTART: "Restart {servers}",
    PARTITION: "Partition",
    SLOW: "Slow links",
    LOSSY: "Lossy links",
    IMPAIRED: "Impaired links",
}
"""Labels, with ``{servers}``."""
EXAMPLES = {
    "brokers": "{servers}: 3, 5-8",
    "servers": "{servers}: 3, 5-8, or names",
    "clients": "{role}-0, {role}-1 or a share: 0.1",
    "islands": "islands: 0-4 | 5-9",
    "links": "links: 0-1, 1-2 or all; one-way: 0>1",
}
WHOLE = "no targets"
"""Instead of an example, where a fault has none."""
AMOUNT_LABELS = {SLOW: "Added ms", LOSSY: "Loss rate"}
COLUMNS = ("what", "where", "amount", "at_s", "until_s")
SHAPE = tuple(describe(LinkShape))
"""Conditions that impaired links may have."""
Kinds = Mapping[str, FaultKind]
"""The faults of a system."""
NO_KINDS: Kinds = {}


@dataclass(frozen=True)
class Choice:
    """A kind of fault in the list of a row."""

    what: str
    label: str
    example: str
    amount_label: str
    kind: FaultKind | None = None
    """For a fault of the system."""


@dataclass
class FaultRow:
    """One fault as entered."""

    what: str = KILL
    where: str = ""
    """``3, 5-8`` for brokers, ``0-4 | 5-9`` for islands, ``0-1, 1-2``, ``0>1, 1>2`` or ``all`` for links. Servers and
    clients can be named everywhere: ``3, directory-0``."""
    amount: str = ""
    at_s: str = ""
    until_s: str = ""
    shape: Mapping[str, str] = field(default_factory=dict)
    """Conditions of impaired links by setting; empty values are omitted."""
    own: Kinds = field(default_factory=dict)
    """The faults of the system."""
    own_texts: Mapping[str, str] = field(default_factory=dict)
    """The other fields of a fault of the system; empty values are omitted."""
    servers: Title = SERVER
    """What the servers of the system are called."""
    wrong: str = ""

    @property
    def kinds(self) -> list[Choice]:
        fill = self.servers.fill
        common = [
            Choice(what, fill(said), fill(EXAMPLES[WHERE[what]]), AMOUNT_LABELS.get(what, "Amount"))
            for what, said in SAID.items()
        ]
        return common + [Choice(what, kind.title, fill(_example(kind)), "", kind) for what, kind in self.own.items()]

    @property
    def chosen(self) -> Choice:
        """The first kind for an unknown one, as a browser shows it."""
        return next((one for one in self.kinds if one.what == self.what), self.kinds[0])

    @property
    def own_inputs(self) -> list[tuple[str, list[Input]]]:
        """The inputs of each fault of the system that has some."""
        return [
            (what, [self._own_input(what, info) for info in kind.fields])
            for what, kind in self.own.items()
            if kind.fields
        ]

    def _own_input(self, what: str, info: SettingInfo) -> Input:
        text = self.own_texts.get(info.name, "") if what == self.what else ""
        return Input(info, _own_name(what, info), [text], sweeps=False)

    @property
    def shapes(self) -> list[Input]:
        """The condition inputs of impaired links."""
        return [Input(info, f"fault-{info.name}", [self.shape.get(info.name, "")], sweeps=False) for info in SHAPE]

    def document(self, index: int) -> dict[str, Any]:
        """Raises ``InvalidSetting`` naming a field that cannot be parsed. Other checks apply to the complete
        definition.
        """
        name = f"faults.{index}"
        if self.what in self.own:
            return self._own_document(name, self.own[self.what])
        if self.what not in SAID:
            known = ", ".join([*SAID, *self.own])
            raise InvalidSetting(f"{name}.what", f"must be one of {known}, not {self.what[:40]!r}")
        where = WHERE[self.what]
        found: dict[str, Any] = {"what": self.what}
        if self.what in (KILL, RESTART):
            found |= fault_texts.targets(name, self.where)
        else:
            found[where] = self._where(f"{name}.{where}")
        if self.what in OF_LINKS and any(sign in self.where for sign in fault_texts.ONE_WAY):
            found["one_way"] = True
        if self.what in AMOUNT:
            amount = AMOUNT[self.what]
            unit = next(fault_texts.unit_of(info) for info in SHAPE if info.name == amount)
            found[amount] = fault_texts.number(f"{name}.{amount}", self.amount, unit)
        if self.what == IMPAIRED:
            found |= {
                info.name: fault_texts.setting(f"{name}.{info.name}", info, text)
                for info in SHAPE
                if (text := self.shape.get(info.name, ""))
            }
        found["at_s"] = fault_texts.number(f"{name}.at_s", self.at_s, "s")
        if self.until_s and self.what != RESTART:
            found["until_s"] = fault_texts.number(f"{name}.until_s", self.until_s, "s")
        return found

    def _own_document(self, name: str, kind: FaultKind) -> dict[str, Any]:
        found: dict[str, Any] = {"what": self.what}
        if kind.has_targets or self.where:
            found |= fault_texts.targets(name, self.where, kind.clients, has_servers=bool(kind.servers))
        for info in kind.fields:
            if text := self.own_texts.get(info.name, ""):
                found[info.name] = fault_texts.setting(f"{name}.{info.name}", info, text)
        found["at_s"] = fault_texts.number(f"{name}.at_s", self.at_s, "s")
        if self.until_s and kind.lasts:
            found["until_s"] = fault_texts.number(f"{name}.until_s", self.until_s, "s")
        return found

    def _where(self, name: str) -> Any:
        if self.what == PARTITION:
            return fault_texts.islands(name, self.where)
        return "all" if self.where.strip().lower() == "all" else fault_texts.links(name, self.where)


@dataclass
class FaultRows:
    """All faults of a form."""

    rows: list[FaultRow] = field(default_factory=list)
    own: Kinds = field(default_factory=dict)
    servers: Title = SERVER

    def __post_init__(self) -> None:
        for row in self.rows:
            row.servers = self.servers

    @property
    def empty(self) -> FaultRow:
        """A new row."""
        return FaultRow(own=self.own, servers=self.servers)

    def documents(self) -> list[dict[str, Any]]:
        """Raises ``InvalidSetting``."""
        return [row.document(index) for index, row in enumerate(self.rows)]

    def blame(self, field_name: str, sentence: str) -> None:
        """Attaches an error to the row that ``faults.2.brokers`` names."""
        parts = field_name.split(".")
        if len(parts) > 1 and parts[0] == "faults" and parts[1].isdigit() and int(parts[1]) < len(self.rows):
            self.rows[int(parts[1])].wrong = f"{words(parts[2]).lower() if len(parts) > 2 else 'the fault'} {sentence}"


def shown(documents: list[Mapping[str, Any]], own: Kinds = NO_KINDS, servers: Title = SERVER) -> FaultRows:
    """Rows for ``documents``; ``own`` are the faults of the system, ``servers`` what its servers are called."""
    return FaultRows([_row(document, own) for document in documents], own, servers)


def sent(data: QueryDict, own: Kinds = NO_KINDS, servers: Title = SERVER) -> FaultRows:
    """Rows from a submitted form."""
    columns = [data.getlist(f"fault-{name}") for name in COLUMNS]
    rows = [FaultRow(*(text.strip() for text in row)) for row in zip(*columns, strict=False)]
    shapes = zip_longest(*(data.getlist(f"fault-{info.name}") for info in SHAPE), fillvalue="")
    for row, texts in zip(rows, shapes, strict=False):
        row.shape = {info.name: text.strip() for info, text in zip(SHAPE, texts, strict=True)}
    for index, row in enumerate(rows):
        row.own = own
        for info in own[row.what].fields if row.what in own else ():
            given = data.getlist(_own_name(row.what, info))
            row.own_texts = {**row.own_texts, info.name: given[index].strip() if index < len(given) else ""}
    return FaultRows(rows, own, servers)


def _listed(targets: Any) -> Any:
    """Targets as a list; a share of clients is its text."""
    return [str(float(targets))] if isinstance(targets, int | float) else targets


def _own_name(what: str, info: SettingInfo) -> str:
    return f"fault-{what}-{info.name}"


def _example(kind: FaultKind) -> str:
    if not kind.has_targets:
        return WHOLE
    return EXAMPLES["servers"] if kind.servers else EXAMPLES["clients"].replace("{role}", kind.clients[0])


def _row(document: Mapping[str, Any], own: Kinds) -> FaultRow:
    what = document["what"]
    times = fault_texts.text_of(document["at_s"]), fault_texts.text_of(document.get("until_s"))
    if what in (KILL, RESTART, *own):
        targets = [_listed(document[place]) for place in fault_texts.TARGETS if place in document]
        if not targets and (what not in own or own[what].has_targets):
            raise KeyError(fault_texts.TARGETS)
        fields = own[what].fields if what in own else ()
        texts = {info.name: fault_texts.text_of(document[info.name]) for info in fields if info.name in document}
        return FaultRow(what, fault_texts.ranges(list(chain(*targets))), "", *times, own=own, own_texts=texts)
    where, amount = document[WHERE[what]], document.get(AMOUNT.get(what, ""))
    if what == PARTITION:
        text = " | ".join(fault_texts.ranges(island) for island in where)
    else:
        sign = ">" if document.get("one_way") else "-"
        text = where if isinstance(where, str) else ", ".join(fault_texts.pair(a, sign, b) for a, b in where)
    shape = {
        info.name: fault_texts.text_of(document[info.name])
        for info in SHAPE
        if what == IMPAIRED and info.name in document
    }
    return FaultRow(what, text, fault_texts.text_of(amount), *times, shape, own)
