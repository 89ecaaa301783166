"""The registry of what can be launched. Web, API and reports learn of a system only here.

A system is what one seed describes. Its settings and workload are described field by field, so that forms, the API's
schema and the documentation are made from them, and ``check`` says before a launch what would fail in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from overlay.core.engines import ENGINES
from overlay.core.errors import InvalidSetting
from overlay.core.settings import SettingInfo, Value, build, describe
from overlay.faults import churn
from overlay.load.assignment import Positions
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.profiles import PROFILE, PROFILES, of_profile, resolved
from overlay.systems.context_broker.workload import Workload, check_clients


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the seed that experiments with the system reproduce."""

    id: str
    title: str


class Check(Protocol):
    """Says before a launch what would fail in it. Raises ``InvalidSetting``."""

    def __call__(
        self,
        settings: Mapping[str, Any],
        workload: Mapping[str, Any] | None,
        brokers: int,
        positions: Positions | None = None,
    ) -> None:
        """``workload`` is ``None`` for a network; ``positions`` is where each broker is drawn, where that is known."""


@dataclass(frozen=True)
class System:
    """Something to launch, as everyone outside ``overlay`` sees it."""

    name: str
    title: str
    seed: str
    """Number of the document that describes it."""
    summary: str
    settings: tuple[SettingInfo, ...]
    workload: tuple[SettingInfo, ...]
    engines: tuple[str, ...]
    figures: tuple[Figure, ...]
    check: Check
    profiles: Mapping[str, Mapping[str, Value]]
    """What each choice of the setting ``profile`` sets; the rest has its default."""

    def whole(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Every setting: as given, with words for numbers read as the numbers, else its profile's, else its default."""
        chosen = {**of_profile(settings), **settings}
        return {**settings, **{info.name: info.read(chosen.get(info.name, info.default)) for info in self.settings}}


MONITORING = SettingInfo(
    name="monitoring",
    kind="boolean",
    default=True,
    unit="",
    help="Whether brokers are ordered to watch their neighbours. Without it a dead one keeps getting requests.",
    low=None,
    high=None,
    choices=(),
)

RECORD = SettingInfo(
    name="record_mb",
    kind="integer",
    default=0,
    unit="MB",
    help="How much each broker may write down of all that it receives and sends, so that the run can be replayed "
    "message by message; 0 writes nothing. A datagram takes its own length and some 30 bytes, and costs the broker "
    "processor time that the measurement then contains. When the room is used up the rest of the run is not recorded.",
    low=0,
    high=4096,
    choices=(),
)
"""Of a whole run, whatever its system; beside its settings, not among them. Counterpart:
``overlay.journal.recording``."""
MOST_RECORDED = 1_000
"""Brokers of an overlay that is recorded, at a file each."""


def check_record_mb(value: object, brokers: int) -> None:
    """Raise ``InvalidSetting`` unless each of so many brokers may record so much."""
    RECORD.check(value)
    if value and brokers > MOST_RECORDED:
        raise InvalidSetting(RECORD.name, f"must be 0 for more than {MOST_RECORDED:,} brokers; these are {brokers:,}")


def _check_context_broker(
    settings: Mapping[str, Any],
    workload: Mapping[str, Any] | None,
    brokers: int,
    positions: Positions | None = None,
) -> None:
    if "monitoring" in settings:
        MONITORING.check(settings["monitoring"])
    config = build(BrokerConfig, {name: v for name, v in resolved(settings).items() if name != "monitoring"})
    if brokers < 1:
        raise InvalidSetting("brokers", f"must be at least 1, not {brokers}")
    if brokers == 1 and config.arm == "unstructured" and config.search == "k-walkers":
        raise InvalidSetting("search", "one broker has no neighbours that several walks could go to; choose walk")
    if workload is not None:
        planned = build(Workload, workload)
        check_clients(planned, brokers, positions)
        churn.schedule(planned, brokers, seed=0)


SYSTEMS: dict[str, System] = {
    "context-broker": System(
        name="context-broker",
        title="Decentralised context broker",
        seed="000",
        summary="Brokers in an unstructured overlay hold context data. What one lacks a random walk finds; replicas "
        "stay on the way back.",
        settings=(PROFILE, *describe(BrokerConfig), MONITORING),
        workload=tuple(describe(Workload)),
        engines=tuple(ENGINES),
        figures=(
            Figure("4.3", "Response time by number of consumers, 50 providers"),
            Figure("4.4", "Response time by number of providers, 1000 consumers"),
            Figure("4.5", "Memory by number of consumers, 50 providers"),
            Figure("4.6", "Memory by number of providers, 1000 consumers"),
        ),
        check=_check_context_broker,
        profiles=PROFILES,
    ),
}
