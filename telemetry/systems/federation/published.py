"""What the paper says of its measurements, with the line of the seed's text, and the slips in it.

No value of Figs. 11 to 14 is printed, so that most rows are words: a shape.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from telemetry.studies.study import Source

FOLDER = Path(__file__).parent / "reference"
TABLES = ("e1_1", "e1_2", "e1_3", "e1_4", "setup")


@dataclass(frozen=True, slots=True)
class Published:
    """A value, or a statement."""

    experiment: str
    figure: str
    """``11a``; ``-``: of none."""
    configuration: str
    metric: str
    unit: str
    """``shape`` and ``text``: the value is in words."""
    value: str
    note: str
    """Ours, on how it is read."""
    line: str

    @property
    def source(self) -> Source:
        place = f"Fig. {self.figure}" if self.figure[:1].isdigit() else self.experiment
        return Source(place, self.line)

    @property
    def number(self) -> float:
        """Raises ``ValueError`` for words."""
        return float(self.value)


@dataclass(frozen=True, slots=True)
class Slip:
    """An error, gap or ambiguity of the paper, and how it is read."""

    where: str
    line: str
    what: str


@cache
def table(name: str) -> tuple[Published, ...]:
    """One of ``TABLES``."""
    return tuple(Published(**row) for row in _rows(f"{name}.csv"))


def find(name: str, metric: str, configuration: str = "") -> Published:
    """The only row of this metric (and configuration). Raises ``KeyError``."""
    for row in table(name):
        if row.metric == metric and configuration in ("", row.configuration):
            return row
    raise KeyError(metric)


@cache
def slips() -> tuple[Slip, ...]:
    return tuple(Slip(**row) for row in _rows("slips.csv"))


def slips_at(*lines: str) -> tuple[str, ...]:
    """Those on these lines, as sentences for the limits of a study."""
    return tuple(f"Slip in line {slip.line} ({slip.where}): {slip.what}." for slip in slips() if slip.line in lines)


def _rows(name: str) -> list[Mapping[str, str]]:
    with (FOLDER / name).open(newline="") as file:
        return list(csv.DictReader(file))
