"""The form of a new experiment, and the body of ``POST /api/experiments/`` that it gives. Counterpart: ``filling``.

Parts that it does not show are kept: blocks, and values of unused settings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brokerweb.builder.fault_forms import FaultRows
from brokerweb.builder.form_shape import listed
from brokerweb.definitions import documents
from brokerweb.definitions.references import name_of
from brokerweb.experiments.evaluation import examples
from brokerweb.kit import setting_forms, setting_sections
from brokerweb.kit.setting_forms import Input, Inputs
from brokerweb.kit.setting_sections import Section
from overlay.core.engines import LIVE, SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.core.settings import ENGINE, SettingInfo
from overlay.experiment import sweeps
from overlay.systems import relevance
from overlay.systems.contract import System
from overlay.systems.registry import RECORD, SYSTEMS
from overlay.systems.roles import Title

ENGINE_WORDS = {
    LIVE: (
        "Live",
        "Real processes and UDP on this machine, in real time.",
    ),
    SIMULATED: (
        "Simulated",
        "The same {servers} in virtual time: faster, and reproducible for a seed. Service times are modelled; figures "
        "are marked as simulated.",
    ),
}
"""Label and description by engine, with ``{servers}``."""
FORM, DOCUMENT = "form", "document"
"""The two editors of an experiment."""


@dataclass
class ExperimentForm:
    """The submitted values and their errors."""

    name: str
    system_name: str
    engine: str
    topologies: list[Any]
    """Ids, or definitions of new topologies."""
    replicates: str
    seed: str
    record_mb: str
    report_when_done: bool
    thresholds: str
    """One per line."""
    workload: Inputs
    settings: Inputs
    simulation: Inputs
    faults: FaultRows
    blocks: list[dict[str, Any]] = field(default_factory=list)
    """Blocks that override the other fields; editable in the document only."""
    unknown_system: str = ""
    """The submitted system, if there is none of that name; the form is then that of the first."""
    mode: str = FORM
    document: str = ""
    """Text of the document editor."""
    token: str = ""
    """Identifies this form, so that submitting it twice creates one experiment."""
    errors: list[InvalidSetting] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._mark_unused()

    @property
    def system(self) -> System:
        return SYSTEMS[self.system_name]

    @property
    def engines(self) -> list[tuple[str, str, str, bool]]:
        """(value, label, description, chosen)."""
        found = [(name, *ENGINE_WORDS[name]) for name in self.system.engines]
        return [(name, label, self.servers.fill(about), name == self.engine) for name, label, about in found]

    @property
    def servers(self) -> Title:
        """What the servers of the system are called."""
        return self.system.server_title

    @property
    def threshold_examples(self) -> list[str]:
        """Conditions that its runs can meet."""
        return examples(self.system_name)[:2]

    @property
    def record(self) -> SettingInfo:
        return RECORD

    @property
    def main_workload(self) -> list[Input]:
        """In the order of the presentation."""
        main = self.system.presentation.main_workload
        shown = [one for one in self.workload.inputs if self._is_main(one)]
        return sorted(shown, key=lambda one: main.index(one.info.name)) if main else shown

    @property
    def more_workload(self) -> list[Input]:
        return [
            one for one in self.workload.inputs if not self._is_main(one) and one.info.name not in self._in_sections
        ]

    def _is_main(self, one: Input) -> bool:
        main = self.system.presentation.main_workload
        return one.info.name in main if main else one.info.name not in self._in_sections

    @property
    def _in_sections(self) -> set[str]:
        return {name for names in self.system.presentation.form_sections.values() for name in names}

    @property
    def others(self) -> list[tuple[str, str]]:
        """Name and title of the other systems."""
        return [(system.name, system.title) for system in SYSTEMS.values() if system.name != self.system_name]

    @property
    def sections(self) -> list[Section]:
        """The sections of the workload."""
        named = self.system.presentation.form_sections
        return setting_sections.named(self.workload.inputs, named)

    @property
    def main_settings(self) -> list[Input]:
        """The profile and the settings that are shown expanded."""
        return setting_sections.main(self.system, self.settings.inputs)

    @property
    def setting_sections(self) -> list[Section]:
        """All other settings."""
        return setting_sections.of_settings(self.system, self.settings.inputs)

    @property
    def hidden(self) -> list[Input]:
        """Inputs that the current choices do not use."""
        return [one for one in (*self.workload.inputs, *self.settings.inputs) if one.is_hidden]

    @property
    def offers_topologies(self) -> bool:
        """Whether topologies can be selected, or have been."""
        return not self.system.has_fixed_topology or bool(self.topologies)

    @property
    def chosen_ids(self) -> list[str]:
        return [one for one in self.topologies if isinstance(one, str)]

    @property
    def to_make(self) -> list[tuple[str, str, str, Any]]:
        """New topologies of the experiment: (value of its input, name, kind, brokers)."""
        made = [one for one in self.topologies if isinstance(one, dict)]
        return [(json.dumps(one), name_of(one), str(one.get("kind", "")), one.get("brokers", "")) for one in made]

    @property
    def blocks_text(self) -> str:
        """As stored in the form's hidden field."""
        return json.dumps(self.blocks) if self.blocks else ""

    @property
    def blocks_said(self) -> list[dict[str, Any]]:
        """The values of each block as ``[(name, values)]``, and its number of configurations."""
        found = []
        for block in self.blocks:
            said = [("topology", _named(block["topology"]))] if "topology" in block else []
            for group in sweeps.SWEPT_GROUPS:
                said += [(name, listed(value)) for name, value in (block.get(group) or {}).items()]
            if "faults" in block:
                said.append(("faults", [str(len(block["faults"]))]))
            found.append({"said": said, "count": self._count(block)})
        return found

    def _count(self, block: Mapping[str, Any]) -> int:
        """Number of configurations of a block; 0 if it has a list without values."""
        topology = _named(block.get("topology", self.topologies))
        try:
            return sweeps.count({**self._frame(), "blocks": [{**block, "topology": topology}]})
        except InvalidSetting:
            return 0

    @property
    def wrong(self) -> dict[str, str]:
        """Errors by field, for fields that are not settings."""
        return {error.field.split(".")[0]: error.sentence for error in self.errors}

    def body(self) -> dict[str, Any]:
        """The definition. Raises ``InvalidSetting`` for the first invalid field."""
        body = self.draft()
        is_missing = not self.topologies and not _all_name_topologies(self.blocks)
        if self.mode == FORM and is_missing and self.system.needs_topology:
            raise InvalidSetting("topology", "select at least one")
        return body

    def draft(self) -> dict[str, Any]:
        """The definition as far as it is filled in. Raises ``InvalidSetting``."""
        if self.mode == DOCUMENT:
            return documents.read(self.document)
        if self.unknown_system:
            raise InvalidSetting("system", f"must be one of {', '.join(SYSTEMS)}, not {self.unknown_system!r:.60}")
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
        """The values that blocks override."""
        some = self.topologies if len(self.topologies) > 1 else self.topologies[0] if self.topologies else None
        return {"topology": some, "settings": self.settings.changed(), "workload": self.workload.values}

    def blame(self, error: InvalidSetting) -> None:
        """Attaches an error to its field, or to the form if there is no such field."""
        group, _, name = error.field.rpartition(".")
        if error.field.startswith("faults."):
            self.faults.blame(error.field, error.sentence)
        else:
            groups = {"settings": self.settings, "simulation": self.simulation, "workload": self.workload}
            if group in groups:
                groups[group].blame(name, error.sentence)
        self.errors.append(error)

    def _mark_unused(self) -> None:
        """Marks unused inputs with the choice that would use them."""
        infos = (*self.system.settings, *self.system.workload)
        chosen = {ENGINE: self.engine, **self.settings.values, **self.workload.values}
        layers = [{**(block.get("settings") or {}), **(block.get("workload") or {})} for block in self.blocks] or [{}]
        found = [relevance.unused(self.system, infos, {**chosen, **layer}) for layer in layers]
        for one in (*self.settings.inputs, *self.workload.inputs):
            if all(one.info.name in unused for unused in found):
                one.unused = found[0][one.info.name]


def _all_name_topologies(blocks: list[dict[str, Any]]) -> bool:
    return bool(blocks) and all("topology" in block for block in blocks)


def _named(value: Any) -> list[str]:
    return [name_of(one) if isinstance(one, dict) else str(one) for one in listed(value)]
