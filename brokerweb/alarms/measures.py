"""What alarms watch: figures of a network's time series, by the names of REST's ``series``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from telemetry.filters.errors import InvalidValue
from telemetry.filters.values import EXAMPLES, quantity
from telemetry.formatting import in_unit

_ZEROS = re.compile(r"(\.\d*?)0+(?=\D|$)")


@dataclass(frozen=True, slots=True)
class Measure:
    name: str
    title: str
    unit: str
    """Of its numbers: ``us``, ``share`` (0 to 1), ``per_s``, ``cores``, ``bytes``; empty: a plain number."""

    @property
    def example(self) -> str:
        return EXAMPLES.get(self.unit, "3")

    def read(self, text: str) -> float:
        """A number with its unit, ``5ms`` or ``99%``. Raises ``InvalidValue``."""
        found = quantity(text, self.unit)
        if found < 0 or (self.unit == "share" and found > 1):
            raise InvalidValue(f"“{text:.40}” is out of range")
        return found

    def write(self, value: float) -> str:
        """Without zeros that say nothing: 2 ms."""
        return _ZEROS.sub(lambda found: found[1].rstrip("."), in_unit(value, self.unit))


MEASURES = {
    one.name: one
    for one in (
        Measure("answered_share", "Probes answered", "share"),
        Measure("p50_us", "Probe response time, p50", "us"),
        Measure("p95_us", "Probe response time, p95", "us"),
        Measure("mean_us", "Probe response time, mean", "us"),
        Measure("hops", "Hops per answered query", ""),
        Measure("answers_per_s", "Answered queries", "per_s"),
        Measure("load_per_s", "Load", "per_s"),
        Measure("cores", "Busy cores", "cores"),
        Measure("private_bytes", "Private memory", "bytes"),
    )
}
