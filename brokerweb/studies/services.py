"""Use cases of studies, called by pages and REST. Only the launched experiments are stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import transaction

from brokerweb.definitions.presets import configurations_of
from brokerweb.experiments import estimates, services
from brokerweb.experiments.models import Experiment, RunState
from brokerweb.experiments.services import Launch
from brokerweb.experiments.states import UNFINISHED
from brokerweb.kit.errors import NotPossible
from overlay.core.errors import InvalidSetting
from overlay.systems.registry import SYSTEMS
from telemetry.studies import judging, telling
from telemetry.studies.judging import Result
from telemetry.studies.study import SCALES, Row, Study
from telemetry.systems.registry import row_of, studies

ESTIMATED_FOR_S = 600
"""Cache time of a launch estimate, which generates topologies and places clients."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A possible launch at one scale."""

    scale: str
    runs: int
    """At most: a configuration that two blocks name counts twice."""
    estimated_s: float | None
    """``None`` if unknown."""
    refused: str = ""
    """Why it cannot be launched here, in a sentence; empty where it can."""


def find(name: str) -> Study | None:
    return studies().get(name)


def seed_of(study: Study) -> str:
    """Number of its paper."""
    return SYSTEMS[study.system].seed


def of_system(system: str) -> list[Study]:
    """All, or those of one system."""
    return [study for study in studies().values() if system in ("", study.system)]


def offers(study: Study) -> list[Offer]:
    return [offer(study, scale) for scale in SCALES]


def offer(study: Study, scale: str) -> Offer:
    definition = study.at(scale)
    runs = configurations_of(definition) * int(definition.get("replicates", 1))
    command = f"python -m telemetry study {study.id} --scale {scale}"
    if study.measure is not None:
        return Offer(scale, runs, None, f"Its values are measured {study.way}, by the command line: {command}")
    largest = max((one["brokers"] for one in _topologies(definition)), default=1)
    if largest > settings.MAX_BROKERS:
        return Offer(scale, runs, None, f"Topologies of {largest:,} brokers are for the command line: {command}")
    return Offer(scale, runs, _estimated_s(study, scale))


def _estimated_s(study: Study, scale: str) -> float | None:
    definition = study.at(scale)
    key = f"study-estimate-{study.id}-{scale}"
    if (kept := cache.get(key)) is None:
        try:
            kept = estimates.estimate(definition).estimated_s
        except InvalidSetting:  # this machine is too small; the launch reports why
            return None
        cache.set(key, kept, ESTIMATED_FOR_S)
    return float(kept)


def _topologies(definition: dict[str, object]) -> Iterator[dict[str, int]]:
    blocks = definition.get("blocks") or []
    assert isinstance(blocks, list)
    for part in (definition, *blocks):
        value = part.get("topology") or []
        yield from value if isinstance(value, list) else [value]


@transaction.atomic
def launch(study: Study, scale: str, owner: User) -> tuple[Experiment, Launch]:
    """Create and launch an experiment of the study. Raises ``InvalidSetting``; ``NotPossible`` while one is active."""
    if other := under_way(study):
        raise NotPossible(f"Not launched: the experiment “{other.name}” of this study is in progress.")
    if refused := offer(study, scale).refused:
        raise InvalidSetting("scale", refused)
    body = study.at(scale)
    body["name"] = f"{study.id}: {body['name']}, {scale}"
    experiment = services.create(body, owner, study=study.id, scale=scale)
    return experiment, services.launch(experiment, owner)


def under_way(study: Study) -> Experiment | None:
    """Its latest experiment with unfinished runs."""
    left = Experiment.objects.filter(study=study.id, runs__state__in=UNFINISHED)
    return left.order_by("-created").first()


def newest(study: Study, scale: str = "") -> Experiment | None:
    """Its latest experiment with results, at one scale or at any."""
    done = Experiment.objects.filter(study=study.id, runs__state=RunState.DONE)
    return (done.filter(scale=scale) if scale else done).order_by("-created").first()


def chosen(study: Study, experiment_id: str, scale: str) -> Experiment | None:
    """The given experiment if the study launched it, otherwise the latest."""
    found = Experiment.objects.filter(pk=experiment_id, study=study.id).first() if experiment_id else None
    return found or newest(study, scale)


def result(study: Study, experiment: Experiment | None, scale: str) -> Result:
    """The result of its runs; without an experiment, the published values only."""
    if experiment is None:
        return judging.judge(study, scale, (), 1)
    configurations = experiment.runs.unchanged().order_by().values("configuration_hash").distinct().count()
    return judging.judge(study, experiment.scale, _rows(experiment), configurations)


def _rows(experiment: Experiment) -> Iterator[Row]:
    """Its finished runs, without the links of their topologies."""
    parts = ("topology__kind", "topology__brokers", "settings", "workload", "faults")
    fields = ("configuration_hash", "seed", "figures", *(f"configuration__{part}" for part in parts))
    done = experiment.runs.unchanged().filter(state=RunState.DONE).order_by("position")
    for name, seed, figures, kind, brokers, chosen_settings, workload, faults in done.values_list(*fields):
        configuration = {
            "system": experiment.definition["system"],
            "topology": {"kind": kind, "brokers": brokers},
            "settings": chosen_settings,
            "workload": workload,
            "faults": faults or (),
        }
        yield row_of(configuration, name, int(seed), figures)


def digest(experiment: Experiment) -> str:
    """Digest over the digests of its finished runs, by replicate."""
    done = experiment.runs.unchanged().filter(state=RunState.DONE).order_by("configuration_hash", "replicate")
    return telling.digest_of(str(one or "") for one in done.values_list("summary__digest", flat=True))


def verdicts(found: Iterable[Study]) -> dict[str, tuple[Experiment, dict[str, str]]]:
    """By study: its latest experiment with results, and the verdict of each claim."""
    return {study.id: (one, _verdicts(study, one)) for study in found if (one := newest(study))}


def _verdicts(study: Study, experiment: Experiment) -> dict[str, str]:
    done = experiment.runs.unchanged().filter(state=RunState.DONE).count()
    key = f"study-verdicts-{experiment.pk}-{done}"
    if (kept := cache.get(key)) is None:
        kept = judging.verdicts(result(study, experiment, experiment.scale))
        cache.set(key, kept, ESTIMATED_FOR_S)
    return dict(kept)
