"""What a system declares to be calibrated: probes of its roles, the costs that follow from them, and anchors.

Counterparts: ``measuring`` executes it; ``overlay.core.service_times`` is the model; ``Telemetry.calibration`` returns
the plan of a system::

    probes ── every round ──> results ── fit ──> Fitted: costs by role      anchors: live and simulated runs
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from overlay.core.service_times import Costs, Deliveries
from overlay.journal.facts import Fact, Sample
from overlay.systems.contract import System

if TYPE_CHECKING:  # every page imports the interface of systems, and so this module
    from overlay.runtime.supervisor_client import SupervisorClient


LAUNCH_S = 4.0
"""Overhead of a run, in addition to its ramp and the measuring phase."""


@dataclass(frozen=True)
class Anchor:
    """One configuration and its name. Anchors are not used for the calibration; they assess it."""

    name: str
    kind: str
    brokers: int
    workload: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    question: str = ""
    """Anchors of one question are listed separately below it: a sentence that ends with ?, and an explanation."""
    faults: Sequence[Mapping[str, Any]] = ()
    """Of its runs, as in an experiment."""
    seconds: float | None = None
    """For how long each run is measured; ``None``: as long as those of other anchors."""
    rounds: int | None = None
    """Runs of it; ``None``: as many as of other anchors. 1 for those that take minutes."""


@dataclass(frozen=True)
class Probe:
    """One measurement of one role, made in every round."""

    role: str
    name: str
    seconds: float
    """How long it takes, roughly."""
    measure: Callable[[SupervisorClient, Path], Any]
    """Called with a supervisor and a new directory. Raises ``TelemetryError``."""


@dataclass(frozen=True)
class Fitted:
    """The result of a calibration."""

    roles: Mapping[str, Costs]
    """By role of servers and of clients."""
    deliveries: Deliveries | None = None
    """``None`` if only costs were measured; the deliveries known for the machine stay."""
    precision: Mapping[str, Any] = field(default_factory=dict)
    """How well parts are known, for the provenance: ``costs``, ``below_nothing``, ``stages``."""


class Plan(ABC):
    """The calibration of one system."""

    anchors: ClassVar[Sequence[Anchor]] = ()
    more_anchors: ClassVar[Sequence[Anchor]] = ()
    """Run only on request, since they take long."""
    question_title: ClassVar[str] = ""
    """The title of a table of anchors with a question; empty: the question."""
    compared: ClassVar[str] = "response time"
    """What ``took_us`` is, in words; its plural ends in s."""
    compared_from: ClassVar[str] = "from the intended send time"
    measures: ClassVar[Sequence[str]] = ()
    """Measures of the system's runs that are compared in addition, by name."""
    labels: ClassVar[Mapping[str, str]] = {}
    """Words for the legs in ``Fitted.precision``, in the order of the page."""

    def workload(self, anchor: Anchor, duration_s: float) -> dict[str, Any]:
        """The workload of an anchor with ``duration_s`` of measuring."""
        return {**anchor.workload, "duration_s": duration_s}

    def around_s(self, anchor: Anchor) -> float:
        """How long a live run of an anchor takes besides its measuring, roughly."""
        return 2 * LAUNCH_S

    def took_us(self, fact: Fact, system: System) -> float | None:
        """The time that anchors compare, if ``fact`` has one: of an answered request in measuring, from its intended
        sending."""
        if not isinstance(fact, Sample) or fact.role not in system.asking_roles:
            return None
        return fact.ended_us - fact.intended_us if (fact.phase, fact.outcome) == ("measuring", "answered") else None

    @abstractmethod
    def probes(self, scale: float) -> Sequence[Probe]:
        """What is measured in each round; ``scale`` shortens complete runs."""

    @abstractmethod
    def fit(self, results: Mapping[str, Sequence[Any]]) -> Fitted:
        """The costs from the results of each probe, by its name, one for each round. Raises ``TelemetryError``."""
