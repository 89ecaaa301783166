"""Stands for a system that is not installed here but has rows and files, such as one of a package that was removed.

Its runs can be read, listed and deleted; none can be started.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn

from overlay.core.errors import InvalidSetting
from overlay.systems.contract import System


@dataclass(frozen=True, slots=True)
class _Nothing:
    """No fields are known, so that values are shown as they are stored."""


class AbsentSystem(System):
    """Whatever would run it raises ``InvalidSetting``."""

    seed, summary, role_names = "", "", ("server",)
    Settings = Workload = _Nothing

    def __init__(self, name: str) -> None:
        self.name = name  # type: ignore[misc]  # of a class in systems that are written down
        self.title = f"{name} (not installed)"  # type: ignore[misc]

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise InvalidSetting("system", f"{self.name} is not installed here; name its package in WAXWING_SYSTEMS")

    def whole(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        return dict(settings)

    def remark(self, summary: Mapping[str, Any]) -> str:
        return f"The system {self.name} is not installed here, so only common figures are shown."

    setup = read_settings = read_workload = _refuse
    roles = plan_clients = make_server = make_fleet = ping = answers_ping = expected = _refuse


absent = cache(AbsentSystem)
"""The stand-in for a system, by its name."""
