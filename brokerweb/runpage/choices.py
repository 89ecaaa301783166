"""Settings of a run for the what-if form: current value and alternatives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from brokerweb.kit.setting_forms import Input
from overlay.core.settings import SettingInfo
from telemetry.formatting import written


@dataclass(frozen=True, slots=True)
class Choice:
    """One setting."""

    name: str
    now: str
    """Its value as text, one of ``choices`` if there are any."""
    choices: tuple[str, ...]
    """All possible values; empty for numbers and free text."""
    unit: str
    range: str
    """ "1 to 1000", "at least 0", or nothing."""
    is_number: bool


def of_run(infos: Iterable[SettingInfo], values: Mapping[str, Any]) -> list[Choice]:
    """Settings with ``values`` by name; missing ones have their defaults."""
    return [_of(info, values.get(info.name, info.default)) for info in infos]


def _of(info: SettingInfo, value: Any) -> Choice:
    choices = ("on", "off") if info.kind == "boolean" else info.choices
    field = Input(info, info.name, [], sweeps=False)
    now = info.zero if info.zero and value == 0 else written(value)
    return Choice(info.name, now, choices, field.unit, field.range, info.kind in ("integer", "number"))
