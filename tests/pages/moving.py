"""Runs of both arms of SilboPS in virtual time, collected, as rows."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Run
from brokerweb.systems.silbops.messages import of_runs
from overlay.core.engines import SIMULATED
from overlay.experiment.definition import configurations
from overlay.experiment.sweeps import configuration_hash
from telemetry.measures import figures_in
from telemetry.systems.registry import measures_of
from tests.pages.recorded import run_it

WORKLOAD = {
    "publishers": 3,
    "subscribers": 6,
    "filters_min": 2,
    "filters_max": 2,
    "duration_s": 4,
    "attribute_names": 8,
    "string_values": 5,
    "int_values": 5,
    "constraints_max": 1,
    "attributes_max": 8,
    "square_km": 100,
    "radius_km": 30,
}

COSTS = ({"change_core": 2.0, "notification_core": 20.0}, {"change_core": 12.0, "notification_core": 15.0})
"""µs, as charged: these runs have no service times. Both cost the same with 2 notifications per change."""


def make_runs(owner: User, **workload: Any) -> list[Run]:
    """One of each arm: ``silbops``, ``siena``."""
    body = {
        "name": "Both arms",
        "system": "silbops",
        "engine": SIMULATED,
        "topology": {"kind": "line", "brokers": 2},
        "settings": {"arm": ["silbops", "siena"], "trace_one_in": 1},
        "workload": {**WORKLOAD, **workload},
    }
    experiment = experiments.create(body, owner)
    runs = [
        run_it(
            Run.objects.create(
                experiment=experiment,
                configuration=configuration,
                configuration_hash=configuration_hash(configuration),
                position=position,
                seed="7",
                owner=owner,
            )
        )
        for position, configuration in enumerate(configurations(experiment.definition, experiments.find_topology))
    ]
    for run, costs in zip(runs, COSTS, strict=True):
        known = figures_in(run.summary, measures_of("silbops").values())
        run.figures = {**known, **{f"silbops.{name}": us for name, us in costs.items()}}
        run.save(update_fields=["figures"])
    return runs


def rows_of(run: Run, **chosen: str) -> list[dict[str, Any]]:
    """Its publications."""
    return list(of_runs.listed(run, chosen, 0, 10_000).rows)


def followed(owner: User) -> dict[str, str]:
    """The addresses of such a run, and of what its page leads to."""
    run, _ = make_runs(owner)
    publication = max(rows_of(run), key=lambda row: row["delivered"])["id"]
    return {
        "silbops-run": f"/runs/{run.pk}/",
        "silbops-publications": f"/runs/{run.pk}/silbops/publications/",
        "silbops-publication": f"/runs/{run.pk}/silbops/publications/{publication}/",
        "silbops-map": f"/runs/{run.pk}/silbops/map/",
        "silbops-break-even": "/studies/E2.6/break-even/",
    }
