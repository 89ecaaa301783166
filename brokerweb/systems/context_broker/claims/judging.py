"""The published claims, judged by the runs of an experiment that was launched from a page.

Counterpart: ``telemetry.systems.context_broker.claims`` has the criteria and recognises runs of the matrix; ``python -m
telemetry claims`` judges those of a sweep by the same code. Nothing is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Min

from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.kit.ids import in_chunks
from overlay.systems.context_broker.profiles import PROFILE
from telemetry.systems.context_broker.claims.criteria import (
    CLAIMS,
    Claim,
    Interval,
    Verdict,
    changes_nothing,
    effect_of_cut,
    evaluate,
)
from telemetry.systems.context_broker.claims.matrix import FOUR, LONG, LONG_S, PARTS, RARE, TEN, Found, Place, place_of

LOOKED_THROUGH = 300
"""Experiments, newest first, in which the parts are looked for that this one has no runs of."""
_SIZES = (1, FOUR, TEN)
_FIGURES = tuple(f"figures__{name}" for name in ("mean", "pss", "over_idle", "rss", "table"))


@dataclass(frozen=True, slots=True)
class Part:
    """Runs of one part of the matrix, of one experiment."""

    name: str
    experiment: Experiment
    found: list[Found]

    @property
    def configurations(self) -> int:
        return len({one.config for one in self.found})

    @property
    def seeds(self) -> int:
        return len({one.seed for one in self.found})


@dataclass(frozen=True, slots=True)
class Judged:
    """What the claims came to."""

    parts: dict[str, Part]
    """By name, those of which there are runs that are done."""
    claims: list[tuple[Claim, Verdict]]
    cut: list[tuple[int, Interval, bool | None]]
    """Configuration, mean response time at 900 s / at 180 s, and whether that is none (``None``: not known)."""


def may_have(definition: Mapping[str, Any]) -> bool:
    """Whether some of its configurations may be of the matrix, by what is cheap to see."""
    return any(
        "prototype" in _listed(settings.get(PROFILE.name)) or "linear" in _listed(settings.get("table"))
        for settings in _group(definition, "settings")
    )


def judged(experiment: Experiment) -> Judged | None:
    """``None`` where no run of the experiment is of the matrix. Parts that it has not are taken from the newest
    experiment that has, with the same engine.
    """
    places = _places(experiment)
    if not places:
        return None
    own = _parts(experiment, places)
    parts = {part: own[part] if part in own else _of_another(experiment, part) for part in PARTS}
    found = {name: part.found if part else [] for name, part in parts.items()}
    short, long, rare = (found[name] for name in PARTS)
    verdicts = evaluate(short, rare)
    ratios = effect_of_cut(short, long).items()
    return Judged(
        {name: part for name, part in parts.items() if part},
        list(zip(CLAIMS, verdicts, strict=True)),
        [(config, ratio, changes_nothing(ratio)) for config, ratio in ratios],
    )


def as_json(judged: Judged) -> dict[str, Any]:
    """As REST tells it."""

    def estimate(figure: Interval | None) -> dict[str, Any]:
        return {name: figure[name] if figure else None for name in ("value", "low", "high")} | {
            "n": figure["n"] if figure else 0
        }

    return {
        "parts": [
            {
                "part": name,
                "experiment": part.experiment.pk,
                "runs": len(part.found),
                "configurations": part.configurations,
                "seeds": part.seeds,
            }
            for name, part in judged.parts.items()
        ],
        "claims": [
            {
                **{name: getattr(claim, name) for name in ("name", "claim", "criterion", "shape", "written")},
                "verdict": verdict.verdict,
                "figures": [
                    {"name": name, **estimate(verdict.figures.get(name)), "published": verdict.published.get(name)}
                    for name in dict.fromkeys([*verdict.figures, *verdict.published])
                ],
            }
            for claim, verdict in judged.claims
        ],
        "cut": [
            {"config": config, **estimate(ratio), "changes_nothing": nothing} for config, ratio, nothing in judged.cut
        ],
    }


def _places(experiment: Experiment) -> dict[str, Place]:
    """By configuration's hash, those that are of the matrix."""
    if not may_have(experiment.definition):
        return {}
    launched = experiment.runs.unchanged().filter(brokers__in=_SIZES).order_by()
    firsts = list(launched.values("configuration_hash").annotate(first=Min("pk")).values_list("first", flat=True))
    found = {}
    for chunk in in_chunks(firsts):
        rows = Run.objects.filter(pk__in=chunk).order_by().values_list("configuration_hash", "configuration")
        found.update({name: place for name, configuration in rows if (place := place_of(configuration))})
    return found


def _parts(experiment: Experiment, places: Mapping[str, Place]) -> dict[str, Part]:
    """Of its runs that are done, one for each configuration and seed."""
    done = experiment.runs.unchanged().filter(brokers__in=_SIZES, state=RunState.DONE).order_by("created")
    kept: dict[str, dict[tuple[int, int], Found]] = {}
    for name, seed, response, *memory in done.values_list("configuration_hash", "seed", *_FIGURES):
        place = places.get(name)
        if place and response is not None:
            found = Found(place.config, int(seed), response, *(value or 0.0 for value in memory))
            kept.setdefault(place.part, {})[place.config, found.seed] = found
    return {part: Part(part, experiment, list(found.values())) for part, found in kept.items()}


def _of_another(experiment: Experiment, part: str) -> Part | None:
    """Runs of ``part`` in the newest other experiment that has some, with the same engine."""
    newest = Experiment.objects.exclude(pk=experiment.pk).order_by("-created")[:LOOKED_THROUGH]
    engine = experiment.definition["engine"]
    for other in newest:
        if other.definition["engine"] != engine or part not in _may_hold(other.definition):
            continue
        if found := _parts(other, _places(other)).get(part):
            return found
    return None


def _may_hold(definition: Mapping[str, Any]) -> Iterator[str]:
    """Parts that it may have runs of."""
    if not may_have(definition):
        return
    loads = _group(definition, "workload")
    for part in PARTS:
        is_long = any(LONG_S in _listed(load.get("duration_s")) for load in loads)
        is_rare = any(1 in _listed(load.get("holders")) for load in loads)
        if (part != LONG or is_long) and (part != RARE or is_rare):
            yield part


def _group(definition: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Of every block what it sets, over what the definition does."""
    usual = definition.get(name) or {}
    return [{**usual, **(block.get(name) or {})} for block in definition.get("blocks") or [{}]]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
