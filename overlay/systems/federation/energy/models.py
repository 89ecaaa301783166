"""Both models by the name that setting ``energy_model`` has for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from overlay.systems.federation.energy.constants import Radio
from overlay.systems.federation.energy.powertutor import powertutor
from overlay.systems.federation.energy.transfer import transfer
from overlay.systems.federation.energy.usage import Energy, Usage

MODELS: Mapping[str, Callable[[Usage, Radio], Energy]] = {"powertutor": powertutor, "transfer": transfer}
LABELS: Mapping[str, str] = {
    "powertutor": "modelled: power by packets per second, PowerTutor's Nexus One",
    "transfer": "modelled: energy of transfers and tails, constants not verified",
}
"""For charts and tables, next to every figure of a model."""
