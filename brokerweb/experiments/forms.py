"""The form of a new experiment: from inputs to the body of ``POST /api/experiments/`` and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from brokerweb import setting_forms
from brokerweb.experiments import fault_forms
from brokerweb.experiments.fault_forms import FaultRows
from brokerweb.setting_forms import Input, Inputs
from overlay.engines import LIVE, SIMULATED, Simulation
from overlay.errors import InvalidSetting
from overlay.settings import SettingInfo, describe
from overlay.systems import RECORD, SYSTEMS, System

MAIN_WORKLOAD = ("providers", "consumers", "update_interval_s", "request_interval_s", "payload_bytes", "duration_s")
"""Shown at once; the rest of the workload is folded away."""
CHURN = {
    "churn": "always",
    "session_mean_s": "drawn",
    "session_shape": "weibull",
    "downtime_mean_s": "drawn",
    "churn_leave_share": "drawn",
    "churn_brokers_kept": "drawn",
    "churn_schedule": "file",
}
"""What says how brokers come and go, folded away by itself, and the kind of churn with which each is shown."""
SIMULATION = describe(Simulation)
ENGINE_WORDS = {
    LIVE: (
        "Live",
        "Real processes and real UDP on this machine: what is measured happened, and takes as long as it says.",
    ),
    SIMULATED: (
        "Simulated",
        "The same brokers in virtual time: many times faster and the same with every launch of a seed; how long a "
        "message takes is a model, and every figure says so.",
    ),
}
"""By engine, its label and what it is, in one sentence."""


@dataclass
class ExperimentForm:
    """What was chosen and typed, and what is wrong with it."""

    name: str
    system_name: str
    engine: str
    topologies: list[str]
    replicates: str
    seed: str
    record_mb: str
    report_when_done: bool
    workload: Inputs
    settings: Inputs
    simulation: Inputs
    faults: FaultRows
    errors: list[InvalidSetting] = field(default_factory=list)

    @property
    def system(self) -> System:
        return SYSTEMS[self.system_name]

    @property
    def engines(self) -> list[tuple[str, str, str, bool]]:
        """(value, label, what it is, chosen)."""
        return [(name, *ENGINE_WORDS[name], name == self.engine) for name in self.system.engines]

    @property
    def record(self) -> SettingInfo:
        return RECORD

    @property
    def main_workload(self) -> list[Input]:
        return [one for one in self.workload.inputs if one.info.name in MAIN_WORKLOAD]

    @property
    def more_workload(self) -> list[Input]:
        return [one for one in self.workload.inputs if one.info.name not in (*MAIN_WORKLOAD, *CHURN)]

    @property
    def churn(self) -> list[tuple[str, Input]]:
        """The kind of churn with which it is shown, and the input."""
        return [(CHURN[one.info.name], one) for one in self.workload.inputs if one.info.name in CHURN]

    @property
    def has_churn(self) -> bool:
        """Whether there is churn, or something wrong with it."""
        return any(one.wrong or (one.info.name == "churn" and one.texts != ["none"]) for _, one in self.churn)

    def body(self) -> dict[str, Any]:
        """The definition that the form stands for. Raises ``InvalidSetting`` naming the first field that is wrong."""
        is_simulated = self.engine == SIMULATED
        groups = [("workload", self.workload), ("settings", self.settings)]
        for group, inputs in [*groups, *([("simulation", self.simulation)] if is_simulated else [])]:
            for one in inputs.inputs:
                if one.wrong:
                    raise InvalidSetting(f"{group}.{one.info.name}", one.wrong)
        if not self.topologies:
            raise InvalidSetting("topology", "choose at least one")
        return {
            "name": self.name,
            "topology": self.topologies if len(self.topologies) > 1 else self.topologies[0],
            "system": self.system_name,
            "engine": self.engine,
            "settings": self.settings.changed(),
            "workload": self.workload.values,
            "faults": self.faults.documents(),
            **({"simulation": self.simulation.changed()} if is_simulated else {}),
            "replicates": setting_forms.whole_number("replicates", self.replicates),
            "seed": setting_forms.whole_number("seed", self.seed),
            RECORD.name: setting_forms.whole_number(RECORD.name, self.record_mb or "0"),
        }

    def blame(self, error: InvalidSetting) -> None:
        """Shows the sentence beside its field where there is one, and above the form."""
        group, _, name = error.field.rpartition(".")
        if error.field.startswith("faults."):
            self.faults.blame(error.field, error.sentence)
        else:
            groups = {"settings": self.settings, "simulation": self.simulation}
            groups.get(group, self.workload).blame(name, error.sentence)
        self.errors.append(error)


def shown(definition: Mapping[str, Any], *, report_when_done: bool = True) -> ExperimentForm:
    """The form filled from a definition (or part of one)."""
    system_name = definition.get("system", "context-broker")
    system = SYSTEMS[system_name]
    chosen = definition.get("topology") or []
    return ExperimentForm(
        name=definition.get("name", ""),
        system_name=system_name,
        engine=definition.get("engine", LIVE),
        topologies=list(chosen) if isinstance(chosen, list) else [chosen],
        replicates=str(definition.get("replicates", 3)),
        seed=str(definition.get("seed", 1)),
        record_mb=str(definition.get(RECORD.name, RECORD.default)),
        report_when_done=report_when_done,
        workload=setting_forms.shown(system.workload, "workload-", definition.get("workload"), sweeps=True),
        settings=setting_forms.shown(system.settings, "settings-", definition.get("settings"), sweeps=True),
        simulation=setting_forms.shown(SIMULATION, "simulation-", definition.get("simulation"), sweeps=False),
        faults=fault_forms.shown(definition.get("faults") or []),
    )


def sent(data: QueryDict) -> ExperimentForm:
    """The form as it was sent."""
    system_name = data.get("system", "")
    system_name = system_name if system_name in SYSTEMS else next(iter(SYSTEMS))
    system = SYSTEMS[system_name]
    return ExperimentForm(
        name=data.get("name", "").strip(),
        system_name=system_name,
        engine=data.get("engine", LIVE),
        topologies=data.getlist("topology"),
        replicates=data.get("replicates", "").strip(),
        seed=data.get("seed", "").strip(),
        record_mb=data.get(RECORD.name, "").strip(),
        report_when_done="report_when_done" in data,
        workload=setting_forms.read(system.workload, "workload-", data, sweeps=True),
        settings=setting_forms.read(system.settings, "settings-", data, sweeps=True),
        simulation=setting_forms.read(SIMULATION, "simulation-", data, sweeps=False),
        faults=fault_forms.sent(data),
    )
