"""Faults as form rows: kind, target, amount, start and end. Counterpart: ``overlay.faults.faults``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from django.conf import settings
from django.http import QueryDict

from brokerweb.kit import quantities
from brokerweb.kit.setting_forms import Input
from overlay.core.errors import InvalidSetting
from overlay.core.links import LinkShape
from overlay.core.settings import SettingInfo, describe
from overlay.faults.fault_documents import WHERE
from overlay.faults.faults import IMPAIRED, KILL, LOSSY, OF_LINKS, PARTITION, RESTART, SLOW
from telemetry.formatting import words

AMOUNT = {SLOW: "delay_ms", LOSSY: "loss"}
"""The amount field of each kind."""
SAID = {
    KILL: "Kill brokers",
    RESTART: "Restart brokers",
    PARTITION: "Partition",
    SLOW: "Slow links",
    LOSSY: "Lossy links",
    IMPAIRED: "Impaired links",
}
EXAMPLES = {
    "brokers": "brokers: 3, 5-8",
    "islands": "islands: 0-4 | 5-9",
    "links": "links: 0-1, 1-2 or all; one-way: 0>1",
}
AMOUNT_LABELS = {SLOW: "Added ms", LOSSY: "Loss rate"}
COLUMNS = ("what", "where", "amount", "at_s", "until_s")
SHAPE = tuple(describe(LinkShape))
"""Conditions that impaired links may have."""
UNITS = {info.name: info.unit.removesuffix("/s") for info in SHAPE}
"""Units in which amounts may be entered, such as "20kB" for a rate."""
_RANGE = re.compile(r"(\d{1,6})(?:\s*[-–]\s*(\d{1,6}))?")
_PAIR = re.compile(r"(\d{1,6})\s*([-–>→])\s*(\d{1,6})")
_ONE_WAY = (">", "→")


@dataclass
class FaultRow:
    """One fault as entered."""

    what: str = KILL
    where: str = ""
    """``3, 5-8`` for brokers, ``0-4 | 5-9`` for islands, ``0-1, 1-2``, ``0>1, 1>2`` or ``all`` for links."""
    amount: str = ""
    at_s: str = ""
    until_s: str = ""
    shape: Mapping[str, str] = field(default_factory=dict)
    """Conditions of impaired links by setting; empty values are omitted."""
    wrong: str = ""

    @property
    def kinds(self) -> list[tuple[str, str, bool]]:
        """(value, label, chosen)."""
        return [(what, said, what == self.what) for what, said in SAID.items()]

    @property
    def example(self) -> str:
        return EXAMPLES[WHERE.get(self.what, "brokers")]

    @property
    def amount_label(self) -> str:
        return AMOUNT_LABELS.get(self.what, "Amount")

    @property
    def shapes(self) -> list[Input]:
        """The condition inputs of impaired links."""
        return [Input(info, f"fault-{info.name}", [self.shape.get(info.name, "")], sweeps=False) for info in SHAPE]

    def document(self, index: int) -> dict[str, Any]:
        """Raises ``InvalidSetting`` naming a field that cannot be parsed. Other checks apply to the complete
        definition.
        """
        name = f"faults.{index}"
        if self.what not in SAID:
            raise InvalidSetting(f"{name}.what", f"must be one of {', '.join(SAID)}, not {self.what[:40]!r}")
        where = WHERE[self.what]
        found: dict[str, Any] = {"what": self.what, where: self._where(f"{name}.{where}")}
        if self.what in OF_LINKS and any(sign in self.where for sign in _ONE_WAY):
            found["one_way"] = True
        if self.what in AMOUNT:
            amount = AMOUNT[self.what]
            found[amount] = _number(f"{name}.{amount}", self.amount, UNITS[amount])
        if self.what == IMPAIRED:
            found |= {
                info.name: _setting(f"{name}.{info.name}", info, text)
                for info in SHAPE
                if (text := self.shape.get(info.name, ""))
            }
        found["at_s"] = _number(f"{name}.at_s", self.at_s, "s")
        if self.until_s and self.what != RESTART:
            found["until_s"] = _number(f"{name}.until_s", self.until_s, "s")
        return found

    def _where(self, name: str) -> Any:
        if self.what in (KILL, RESTART):
            return _brokers(name, self.where, settings.MAX_BROKERS)
        if self.what == PARTITION:
            return _islands(name, self.where)
        return "all" if self.where.strip().lower() == "all" else _links(name, self.where)


@dataclass
class FaultRows:
    """All faults of a form."""

    rows: list[FaultRow] = field(default_factory=list)

    @property
    def empty(self) -> FaultRow:
        """A new row."""
        return FaultRow()

    def documents(self) -> list[dict[str, Any]]:
        """Raises ``InvalidSetting``."""
        return [row.document(index) for index, row in enumerate(self.rows)]

    def blame(self, field_name: str, sentence: str) -> None:
        """Attaches an error to the row that ``faults.2.brokers`` names."""
        parts = field_name.split(".")
        if len(parts) > 1 and parts[0] == "faults" and parts[1].isdigit() and int(parts[1]) < len(self.rows):
            self.rows[int(parts[1])].wrong = f"{words(parts[2]).lower() if len(parts) > 2 else 'the fault'} {sentence}"


def shown(documents: list[Mapping[str, Any]]) -> FaultRows:
    """Rows for ``documents``."""
    return FaultRows([_row(document) for document in documents])


def sent(data: QueryDict) -> FaultRows:
    """Rows from a submitted form."""
    columns = [data.getlist(f"fault-{name}") for name in COLUMNS]
    rows = [FaultRow(*(text.strip() for text in row)) for row in zip(*columns, strict=False)]
    shapes = zip_longest(*(data.getlist(f"fault-{info.name}") for info in SHAPE), fillvalue="")
    for row, texts in zip(rows, shapes, strict=False):
        row.shape = {info.name: text.strip() for info, text in zip(SHAPE, texts, strict=True)}
    return FaultRows(rows)


def _row(document: Mapping[str, Any]) -> FaultRow:
    what = document["what"]
    where, amount = document[WHERE[what]], document.get(AMOUNT.get(what, ""))
    if what == PARTITION:
        text = " | ".join(_ranges(island) for island in where)
    elif what in OF_LINKS:
        sign = ">" if document.get("one_way") else "-"
        text = where if isinstance(where, str) else ", ".join(f"{a}{sign}{b}" for a, b in where)
    else:
        text = _ranges(where)
    shape = {info.name: _text(document[info.name]) for info in SHAPE if what == IMPAIRED and info.name in document}
    return FaultRow(what, text, _text(amount), _text(document["at_s"]), _text(document.get("until_s")), shape)


def _ranges(brokers: list[int]) -> str:
    return ", ".join(map(str, brokers))


def _text(number: bool | float | None) -> str:
    if isinstance(number, bool):
        return str(number).lower()
    return "" if number is None else str(number) if isinstance(number, int) else f"{number:g}"


def _setting(name: str, info: SettingInfo, text: str) -> Any:
    """Integers stay integers; ranges are checked with the complete definition."""
    if info.kind == "boolean":
        return {"true": True, "false": False}.get(text, text)
    number = _number(name, text, UNITS[info.name])
    return int(number) if info.kind == "integer" and number == int(number) else number


def _number(name: str, text: str, unit: str) -> float:
    if (quantity := quantities.read(text, unit)) is not None:
        return quantity
    try:
        return float(text)
    except ValueError:
        raise InvalidSetting(name, f"must be a number, not {text[:40]!r}" if text else "is required") from None


def _islands(name: str, text: str) -> list[list[int]]:
    found: list[list[int]] = []
    left = settings.MAX_BROKERS
    for island in text.split("|"):
        found.append(_brokers(name, island, left))
        left -= len(found[-1])
    return found


def _brokers(name: str, text: str, most: int) -> list[int]:
    """Limited in number: a short range can stand for any number of brokers."""
    found: list[int] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            sentence = f"must be brokers such as “3, 5-8”, not {text[:40]!r}"
            raise InvalidSetting(name, sentence if text else "is required")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise InvalidSetting(name, f"{part.strip()!r} is not a range of brokers")
        if len(found) + last - first >= most:
            raise InvalidSetting(name, f"must name at most {settings.MAX_BROKERS:,} brokers")
        found += range(first, last + 1)
    return found


def _links(name: str, text: str) -> list[list[int]]:
    found = []
    signs = set()
    for part in text.split(","):
        match = _PAIR.fullmatch(part.strip())
        if match is None:
            sentence = f"must be “all” or links such as “0-1, 1-2” (one-way: “0>1, 1>2”), not {text[:40]!r}"
            raise InvalidSetting(name, sentence if text else "is required")
        found.append([int(match[1]), int(match[3])])
        signs.add(match[2] in _ONE_WAY)
    if len(signs) > 1:
        raise InvalidSetting(name, "cannot mix one-way and two-way links in one fault; add a second fault")
    return found
