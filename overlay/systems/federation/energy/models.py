"""Both models by the name that setting ``energy_model`` has for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from overlay.core.node import SECOND
from overlay.systems.federation.energy.constants import CPU_W, Radio
from overlay.systems.federation.energy.powertutor import PowerTutor
from overlay.systems.federation.energy.transfer import Transfers
from overlay.systems.federation.energy.usage import Energy, Exchange, Usage


class Model(Protocol):
    """Of a radio."""

    def add(self, one: Exchange) -> None:
        """In the order of time."""
        ...

    def joules(self, now_ns: int) -> float:
        """Up to an instant that is not before the last exchange."""
        ...


MODELS: Mapping[str, Callable[[Radio], Model]] = {"powertutor": PowerTutor, "transfer": Transfers}
LABELS: Mapping[str, str] = {
    "powertutor": "modelled: power by packets per second, PowerTutor's Nexus One",
    "transfer": "modelled: energy of transfers and tails, constants not verified",
}
"""For charts and tables, next to every figure of a model."""


def energy(model: str, usage: Usage, radio: Radio = Radio.WIFI) -> Energy:
    """Of a complete record, up to its end: a tail after that does not count. Raises ``KeyError`` for another model."""
    one = MODELS[model](radio)
    for exchange in sorted(usage.exchanges):
        one.add(exchange)
    return Energy(one.joules(usage.duration_ns), cpu_joules(usage.cpu_ns))


def cpu_joules(cpu_ns: int) -> float:
    return cpu_ns / SECOND * CPU_W
