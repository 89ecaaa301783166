"""The form of a new experiment: from inputs to the body of ``POST /api/experiments/`` and back.

What it does not show, it keeps: blocks, and the values of settings that nothing chosen uses.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from brokerweb.builder import fault_forms
from brokerweb.builder.fault_forms import FaultRows
from brokerweb.builder.form_shape import SIMULATION, check_shape, listed, read_blocks, read_topology
from brokerweb.definitions import documents
from brokerweb.definitions.references import name_of
from brokerweb.kit import setting_forms
from brokerweb.kit.setting_forms import Input, Inputs
from overlay.core.engines import LIVE, SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.core.settings import ENGINE, SettingInfo
from overlay.experiment import sweeps
from overlay.systems import relevance
from overlay.systems.contract import System
from overlay.systems.registry import RECORD, SYSTEMS

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
REPLICATES = 5
"""Where nobody said: with fewer, an interval says little."""
FORM, DOCUMENT = "form", "document"
"""The two ways in which an experiment is shown."""


@dataclass
class ExperimentForm:
    """What was chosen and typed, and what is wrong with it."""

    name: str
    system_name: str
    engine: str
    topologies: list[Any]
    """Ids, and objects that make one."""
    replicates: str
    seed: str
    record_mb: str
    report_when_done: bool
    thresholds: str
    """One a line."""
    workload: Inputs
    settings: Inputs
    simulation: Inputs
    faults: FaultRows
    blocks: list[dict[str, Any]] = field(default_factory=list)
    """Parts that are laid over the rest, as they were given: shown, and changed in the document."""
    mode: str = FORM
    document: str = ""
    """What stands in the document while that is shown."""
    token: str = ""
    """Names this form, so that sent twice it makes one experiment."""
    errors: list[InvalidSetting] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._mark_unused()

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
        return [one for one in self.workload.inputs if self._is_main(one)]

    @property
    def more_workload(self) -> list[Input]:
        return [one for one in self.workload.inputs if not self._is_main(one) and one.info.name not in CHURN]

    def _is_main(self, one: Input) -> bool:
        main = self.system.main_workload
        return one.info.name in main if main else one.info.name not in CHURN

    @property
    def systems(self) -> list[tuple[str, str, bool]]:
        """(value, label, chosen)."""
        return [(system.name, system.title, system.name == self.system_name) for system in SYSTEMS.values()]

    @property
    def churn(self) -> list[tuple[str, Input]]:
        """The kind of churn with which it is shown, and the input."""
        return [(CHURN[one.info.name], one) for one in self.workload.inputs if one.info.name in CHURN]

    @property
    def has_churn(self) -> bool:
        """Whether there is churn, or something wrong with it."""
        return any(one.wrong or (one.info.name == "churn" and one.texts != ["none"]) for _, one in self.churn)

    @property
    def broker_settings(self) -> list[Input]:
        """All but the profile, which stands before them."""
        return [one for one in self.settings.inputs if not one.is_profile]

    @property
    def hidden(self) -> list[Input]:
        """The inputs that nothing chosen uses."""
        return [one for one in (*self.workload.inputs, *self.settings.inputs) if one.is_hidden]

    @property
    def chosen_ids(self) -> list[str]:
        return [one for one in self.topologies if isinstance(one, str)]

    @property
    def to_make(self) -> list[tuple[str, str, str, Any]]:
        """Of each topology that is made with the experiment (value of its input, name, kind, brokers)."""
        made = [one for one in self.topologies if isinstance(one, dict)]
        return [(json.dumps(one), name_of(one), str(one.get("kind", "")), one.get("brokers", "")) for one in made]

    @property
    def blocks_text(self) -> str:
        """As the form carries them."""
        return json.dumps(self.blocks) if self.blocks else ""

    @property
    def blocks_said(self) -> list[dict[str, Any]]:
        """Of each block what it sets, as ``[(name, values)]``, and how many configurations it makes."""
        found = []
        for block in self.blocks:
            said = [("topology", _named(block["topology"]))] if "topology" in block else []
            for group in sweeps.SWEPT_GROUPS:
                said += [(name, listed(value)) for name, value in (block.get(group) or {}).items()]
            found.append({"said": said, "count": self._count(block)})
        return found

    def _count(self, block: Mapping[str, Any]) -> int:
        """How many configurations a block makes; 0 where it has a list without values."""
        topology = _named(block.get("topology", self.topologies))
        try:
            return sweeps.count({**self._frame(), "blocks": [{**block, "topology": topology}]})
        except InvalidSetting:
            return 0

    @property
    def changed_settings(self) -> int:
        """How many of the brokers' settings say something else than their defaults."""
        return sum(one.is_changed for one in self.broker_settings)

    @property
    def wrong(self) -> dict[str, str]:
        """By field that is no setting, what is wrong with it."""
        return {error.field.split(".")[0]: error.sentence for error in self.errors}

    def body(self) -> dict[str, Any]:
        """The definition that it stands for. Raises ``InvalidSetting`` naming the first field that is wrong."""
        body = self.draft()
        if self.mode == FORM and not self.topologies and not _all_name_topologies(self.blocks):
            raise InvalidSetting("topology", "choose at least one")
        return body

    def draft(self) -> dict[str, Any]:
        """The same, as far as it is filled in. Raises ``InvalidSetting``."""
        if self.mode == DOCUMENT:
            return documents.read(self.document)
        is_simulated = self.engine == SIMULATED
        groups = [("workload", self.workload), ("settings", self.settings)]
        for group, inputs in [*groups, *([("simulation", self.simulation)] if is_simulated else [])]:
            for one in inputs.inputs:
                if one.wrong:
                    raise InvalidSetting(f"{group}.{one.info.name}", one.wrong)
        thresholds = [line.strip() for line in self.thresholds.splitlines() if line.strip()]
        return {
            **self._frame(),
            "name": self.name,
            "system": self.system_name,
            "engine": self.engine,
            "faults": self.faults.documents(),
            **({"simulation": self.simulation.changed()} if is_simulated else {}),
            **({"thresholds": thresholds} if thresholds else {}),
            **({"blocks": self.blocks} if self.blocks else {}),
            "replicates": setting_forms.whole_number("replicates", self.replicates),
            "seed": setting_forms.whole_number("seed", self.seed),
            RECORD.name: setting_forms.whole_number(RECORD.name, self.record_mb or "0"),
        }

    def _frame(self) -> dict[str, Any]:
        """What blocks are laid over."""
        some = self.topologies if len(self.topologies) > 1 else self.topologies[0] if self.topologies else None
        return {"topology": some, "settings": self.settings.changed(), "workload": self.workload.values}

    def blame(self, error: InvalidSetting) -> None:
        """Shows the sentence beside its field where there is one, and above the form."""
        group, _, name = error.field.rpartition(".")
        if error.field.startswith("faults."):
            self.faults.blame(error.field, error.sentence)
        else:
            groups = {"settings": self.settings, "simulation": self.simulation, "workload": self.workload}
            if group in groups:
                groups[group].blame(name, error.sentence)
        self.errors.append(error)

    def _mark_unused(self) -> None:
        """Says of each input what would use it, where no block does."""
        infos = (*self.system.settings, *self.system.workload)
        chosen = {ENGINE: self.engine, **self.settings.values, **self.workload.values}
        layers = [{**(block.get("settings") or {}), **(block.get("workload") or {})} for block in self.blocks] or [{}]
        found = [relevance.unused(self.system, infos, {**chosen, **layer}) for layer in layers]
        for one in (*self.settings.inputs, *self.workload.inputs):
            if all(one.info.name in unused for unused in found):
                one.unused = found[0][one.info.name]


def shown(definition: Mapping[str, Any], *, report_when_done: bool = True, token: str = "") -> ExperimentForm:
    """The form filled from a definition, or part of one. Raises ``InvalidSetting`` for what it has no input for."""
    check_shape(definition)
    system_name = definition.get("system", next(iter(SYSTEMS)))
    system = SYSTEMS[system_name]
    chosen = definition.get("topology") or []
    return ExperimentForm(
        name=definition.get("name", ""),
        system_name=system_name,
        engine=definition.get("engine", LIVE),
        topologies=list(chosen) if isinstance(chosen, list) else [chosen],
        replicates=str(definition.get("replicates", 1 if "name" in definition else REPLICATES)),
        seed=str(definition.get("seed", 0 if "name" in definition else 1)),
        record_mb=str(definition.get(RECORD.name, RECORD.default)),
        report_when_done=report_when_done,
        thresholds="\n".join(definition.get("thresholds") or []),
        workload=setting_forms.shown(system.workload, "workload-", definition.get("workload"), sweeps=True),
        settings=setting_forms.shown(
            system.settings, "settings-", definition.get("settings"), sweeps=True, profiles=system.profiles
        ),
        simulation=setting_forms.shown(SIMULATION, "simulation-", definition.get("simulation"), sweeps=False),
        faults=fault_forms.shown(definition.get("faults") or []),
        blocks=list(definition.get("blocks") or []),
        token=token,
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
        topologies=[read_topology(text) for text in data.getlist("topology")],
        replicates=data.get("replicates", "").strip(),
        seed=data.get("seed", "").strip(),
        record_mb=data.get(RECORD.name, "").strip(),
        report_when_done="report_when_done" in data,
        thresholds=data.get("thresholds", ""),
        workload=setting_forms.read(system.workload, "workload-", data, sweeps=True),
        settings=setting_forms.read(system.settings, "settings-", data, sweeps=True, profiles=system.profiles),
        simulation=setting_forms.read(SIMULATION, "simulation-", data, sweeps=False),
        faults=fault_forms.sent(data),
        blocks=read_blocks(data.get("blocks", "")),
        mode=DOCUMENT if data.get("mode") == DOCUMENT else FORM,
        document=data.get("document", "").replace("\r\n", "\n"),
        token=data.get("token", ""),
    )


def _all_name_topologies(blocks: list[dict[str, Any]]) -> bool:
    return bool(blocks) and all("topology" in block for block in blocks)


def _named(value: Any) -> list[str]:
    return [name_of(one) if isinstance(one, dict) else str(one) for one in listed(value)]
