"""Fills the form of a new experiment: from a definition, or from what was submitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import QueryDict

from brokerweb.builder import fault_forms
from brokerweb.builder.form_shape import SIMULATION, check_shape, faults_of, read_blocks, read_topology
from brokerweb.builder.forms import DOCUMENT, FORM, ExperimentForm
from brokerweb.kit import setting_forms
from overlay.core.engines import LIVE
from overlay.systems.registry import FIRST, RECORD, SYSTEMS

REPLICATES = 5
"""Default; with fewer, intervals are wide."""


def shown(definition: Mapping[str, Any], *, report_when_done: bool = True, token: str = "") -> ExperimentForm:
    """The form filled from a definition or a part of one. Raises ``InvalidSetting`` for values without an input."""
    check_shape(definition)
    system_name = definition.get("system", FIRST)
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
        faults=fault_forms.shown(faults_of(definition, system), system.faults, system.server_title),
        blocks=list(definition.get("blocks") or []),
        token=token,
    )


def sent(data: QueryDict) -> ExperimentForm:
    """The submitted form."""
    asked = data.get("system", "")
    system = SYSTEMS.get(asked, SYSTEMS[FIRST])
    return ExperimentForm(
        name=data.get("name", "").strip(),
        system_name=system.name,
        unknown_system=asked if asked not in SYSTEMS else "",
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
        faults=fault_forms.sent(data, system.faults, system.server_title),
        blocks=read_blocks(data.get("blocks", "")),
        mode=DOCUMENT if data.get("mode") == DOCUMENT else FORM,
        document=data.get("document", "").replace("\r\n", "\n"),
        token=data.get("token", ""),
    )
