"""Initial contents of a new experiment: a preset, an experiment, a run, a topology, or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from brokerweb.definitions.presets import PRESETS
from brokerweb.definitions.references import References, carried
from brokerweb.experiments.models import Experiment, Run
from brokerweb.topologies.models import Topology
from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.experiment.definition import MAX_NAME, default_topology
from overlay.systems.contract import PROFILE
from overlay.systems.registry import RECORD, SYSTEMS
from telemetry.studies.study import PAPER, QUICK, Study
from telemetry.systems.registry import study_called

DOCUMENT = "document"
"""The parameter that opens the form as a document; its value does not count."""
STUDY = "study"


@dataclass(frozen=True)
class Origin:
    """The source of a form's values."""

    definition: Mapping[str, Any] = field(default_factory=dict)
    said: str = ""
    """As text: "the preset Rare data"; empty if the form starts empty."""
    report_when_done: bool = True
    is_new: bool = False
    """Whether no source was given; presets are then offered."""
    problems: tuple[InvalidSetting, ...] = ()
    """What the URL asks for and there is not."""


def find(asked: Mapping[str, str]) -> Origin:
    """What ``?preset=``, ``?study=`` (with ``?scale=``), ``?from=`` (an experiment), ``?run=`` or ``?topology=`` name,
    else a new one of ``?system=``.

    Names that there are not are in ``problems``, and the form starts without them.
    """
    return replace(_find(asked), problems=tuple(_problems(asked)))


def _find(asked: Mapping[str, str]) -> Origin:
    if (preset := PRESETS.get(asked.get("preset", ""))) is not None:
        return Origin(References(preset.engine).kept(preset.definition), f"the preset “{preset.title}”")
    if asked.get(STUDY) and (study := _study(asked[STUDY])) is not None:
        scale = PAPER if asked.get("scale") == PAPER else QUICK
        body = {"name": study.title, **study.at(scale)}
        return Origin(References(SIMULATED).kept(body), f"the study {study.id} at the scale {scale}")
    if experiment := Experiment.objects.filter(pk=asked.get("from", "")).first():
        again = {**experiment.definition, "name": f"{experiment.name}, again"[:MAX_NAME]}
        return Origin(again, f"the experiment “{experiment.name}”", experiment.report_when_done)
    if run := Run.objects.select_related("experiment").filter(pk=asked.get("run", "")).first():
        return Origin(of_run(run), f"run {run.position + 1} of “{run.experiment.name}”")
    topology = asked.get("topology", "")
    topology = topology if Topology.objects.filter(pk=topology).exists() else ""
    system = SYSTEMS.get(asked.get("system", ""), next(iter(SYSTEMS.values())))
    begun = {"system": system.name, "workload": dict(system.presentation.first_workload)}
    return Origin({**begun, **({"topology": [topology]} if topology else {})}, is_new=not topology)


def _problems(asked: Mapping[str, str]) -> Iterator[InvalidSetting]:
    """Unknown parameters and values. An empty value asks for nothing."""
    words = {"preset": PRESETS, "scale": (QUICK, PAPER), "system": SYSTEMS}
    rows = {"from": Experiment.objects.all(), "run": Run.objects.all(), "topology": Topology.objects.all()}
    for name, value in asked.items():
        if name in words and value and value not in words[name]:
            yield InvalidSetting(name, f"must be one of {', '.join(words[name])}, not {value!r:.60}")
        elif name in rows and value and not rows[name].filter(pk=value).exists():
            yield InvalidSetting(name, f"there is no {rows[name].model._meta.verbose_name} with the id {value!r:.60}")
        elif name == STUDY:
            yield from _problems_of_study(value)
        elif name not in words and name not in rows and name != DOCUMENT:
            known = ", ".join((*words, STUDY, *rows, DOCUMENT))
            yield InvalidSetting(name[:40], f"is an unknown parameter of this page; known: {known}")


def _problems_of_study(value: str) -> Iterator[InvalidSetting]:
    try:
        if value:
            study_called(value)
    except InvalidSetting as error:
        yield error


def _study(name: str) -> Study | None:
    try:
        return study_called(name)
    except InvalidSetting:
        return None


def _is_default(configuration: Mapping[str, Any]) -> bool:
    """Whether its topology is the default of its system, which another setting may change."""
    system, topology = SYSTEMS[configuration["system"]], configuration["topology"]
    if topology["id"] or system.needs_topology:
        return False
    return bool(topology == default_topology(system, configuration["settings"], configuration["workload"]))


def _changed(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that are not those of the profile."""
    system = SYSTEMS[configuration["system"]]
    plain, profile = system.whole({}).get(PROFILE), configuration["settings"].get(PROFILE)
    whole = system.whole({PROFILE: profile} if profile is not None else {})
    settings = {name: value for name, value in configuration["settings"].items() if value != whole.get(name)}
    return {PROFILE: profile, **settings} if profile not in (None, plain) else settings


def of_run(run: Run) -> dict[str, Any]:
    """A definition with the configuration of one run, on its topology at that time."""
    configuration = run.configuration
    document = configuration["topology"]
    kept = References().find(document.get("id") or "")
    is_same = kept is not None and kept["links"] == document["links"]
    return {
        "name": f"{run.experiment.name}, run {run.position + 1}"[:MAX_NAME],
        "topology": document["id"] if is_same else None if _is_default(configuration) else carried(document),
        "system": configuration["system"],
        "engine": configuration["engine"],
        "settings": _changed(configuration),
        "workload": configuration["workload"],
        "faults": configuration.get("faults") or [],
        "simulation": configuration.get("simulation") or {},
        RECORD.name: configuration.get(RECORD.name, 0),
        "thresholds": run.experiment.definition.get("thresholds") or [],
        "replicates": run.experiment.definition.get("replicates", 1),
        "seed": run.experiment.definition.get("seed", 0),
    }
