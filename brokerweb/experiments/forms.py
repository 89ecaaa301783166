"""The form of a new experiment: from inputs to the body of ``POST /api/experiments/`` and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from brokerweb import setting_forms
from brokerweb.setting_forms import Input, Inputs
from overlay.errors import InvalidSetting
from overlay.systems import SYSTEMS, System

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


@dataclass
class ExperimentForm:
    """What was chosen and typed, and what is wrong with it."""

    name: str
    system_name: str
    topologies: list[str]
    replicates: str
    seed: str
    report_when_done: bool
    workload: Inputs
    settings: Inputs
    errors: list[InvalidSetting] = field(default_factory=list)

    @property
    def system(self) -> System:
        return SYSTEMS[self.system_name]

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
        for group, inputs in (("workload", self.workload), ("settings", self.settings)):
            for one in inputs.inputs:
                if one.wrong:
                    raise InvalidSetting(f"{group}.{one.info.name}", one.wrong)
        if not self.topologies:
            raise InvalidSetting("topology", "choose at least one")
        return {
            "name": self.name,
            "topology": self.topologies if len(self.topologies) > 1 else self.topologies[0],
            "system": self.system_name,
            "engine": self.system.engines[0],
            "settings": self.settings.changed(),
            "workload": self.workload.values,
            "replicates": setting_forms.whole_number("replicates", self.replicates),
            "seed": setting_forms.whole_number("seed", self.seed),
        }

    def blame(self, error: InvalidSetting) -> None:
        """Shows the sentence beside its field where there is one, and above the form."""
        group, _, name = error.field.rpartition(".")
        inputs = self.settings if group == "settings" else self.workload
        inputs.blame(name, error.sentence)
        self.errors.append(error)


def shown(definition: Mapping[str, Any], *, report_when_done: bool = True) -> ExperimentForm:
    """The form filled from a definition (or part of one)."""
    system_name = definition.get("system", "context-broker")
    system = SYSTEMS[system_name]
    chosen = definition.get("topology") or []
    return ExperimentForm(
        name=definition.get("name", ""),
        system_name=system_name,
        topologies=list(chosen) if isinstance(chosen, list) else [chosen],
        replicates=str(definition.get("replicates", 3)),
        seed=str(definition.get("seed", 1)),
        report_when_done=report_when_done,
        workload=setting_forms.shown(system.workload, "workload-", definition.get("workload"), sweeps=True),
        settings=setting_forms.shown(system.settings, "settings-", definition.get("settings"), sweeps=True),
    )


def sent(data: QueryDict) -> ExperimentForm:
    """The form as it was sent."""
    system_name = data.get("system", "")
    system_name = system_name if system_name in SYSTEMS else next(iter(SYSTEMS))
    system = SYSTEMS[system_name]
    return ExperimentForm(
        name=data.get("name", "").strip(),
        system_name=system_name,
        topologies=data.getlist("topology"),
        replicates=data.get("replicates", "").strip(),
        seed=data.get("seed", "").strip(),
        report_when_done="report_when_done" in data,
        workload=setting_forms.read(system.workload, "workload-", data, sweeps=True),
        settings=setting_forms.read(system.settings, "settings-", data, sweeps=True),
    )
