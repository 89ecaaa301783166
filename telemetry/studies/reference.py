"""What a paper says of its measurements, with the line of its seed's text, and the slips in it: tables of a system."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from telemetry.studies.study import Source


@dataclass(frozen=True, slots=True)
class Published:
    """A value, or a statement."""

    experiment: str
    figure: str
    """``11a``, ``Table 1``; ``-``: of none."""
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
        place = f"Fig. {self.figure}" if self.figure[:1].isdigit() else self.figure
        return Source(self.experiment if place == "-" else place, self.line)

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


@dataclass(frozen=True, slots=True)
class Reference:
    """CSV files of ``Published`` in a folder, and ``slips.csv`` of ``Slip``."""

    folder: Path

    def table(self, name: str) -> tuple[Published, ...]:
        return tuple(Published(**row) for row in _rows(self.folder / f"{name}.csv"))

    def find(self, name: str, metric: str, configuration: str = "") -> Published:
        """The first row of this metric (and configuration). Raises ``KeyError``."""
        for row in self.table(name):
            if row.metric == metric and configuration in ("", row.configuration):
                return row
        raise KeyError(metric)

    def slips(self) -> tuple[Slip, ...]:
        return tuple(Slip(**row) for row in _rows(self.folder / "slips.csv"))

    def slips_at(self, *lines: str) -> tuple[str, ...]:
        """Those on these lines, as sentences for the limits of a study."""
        return tuple(
            f"Slip in line {slip.line} ({slip.where}): {slip.what}." for slip in self.slips() if slip.line in lines
        )


@cache
def _rows(path: Path) -> tuple[Mapping[str, str], ...]:
    with path.open(newline="") as file:
        return tuple(csv.DictReader(file))
