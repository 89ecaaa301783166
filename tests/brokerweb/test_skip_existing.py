"""A launch that leaves out what was run already, and says which runs stand for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from brokerweb.control.runs import write_manifest
from brokerweb.experiments import standing
from brokerweb.experiments.models import Run, RunState
from brokerweb.experiments.services import seed_of
from telemetry.sweep import simulation
from telemetry.sweep.simulation import Order, Result

pytestmark = pytest.mark.django_db

WORKLOAD = {"providers": 2, "consumers": [3, 4], "duration_s": 2, "stagger_ms": 10}


def made(api: APIClient, ring: dict, **changes: Any) -> str:
    body = {"name": "e", "topology": ring["id"], "workload": WORKLOAD, "replicates": 2, "seed": 5, **changes}
    return api.post("/api/experiments/", body, format="json").json()["id"]


def launch(api: APIClient, experiment: str, **order: Any) -> Any:
    return api.post(f"/api/experiments/{experiment}/launch/", {"skip_existing": True, **order}, format="json")


def finish(*runs: str, verdict: str = "valid") -> None:
    for run in Run.objects.filter(pk__in=runs):
        write_manifest(run)
    Run.objects.filter(pk__in=runs).update(state=RunState.DONE, verdict=verdict)


def pairs(experiment: str) -> dict[tuple[str, int], str]:
    return {(run.configuration_hash, run.replicate): run.pk for run in Run.objects.filter(experiment=experiment)}


def test_what_finished_runs_stand_for_is_left_out_and_named(api: APIClient, ring: dict) -> None:
    first = made(api, ring)
    launched = launch(api, first)
    assert (launched.status_code, launched.json()["count"], launched.json()["skipped"]) == (201, 4, [])
    assert launch(api, first).json()["count"] == 4  # queued runs stand for nothing
    finish(*launched.json()["runs"], verdict="suspect")

    longer = made(api, ring, name="longer", replicates=3)
    told = launch(api, longer).json()
    assert told["count"] == 2  # the third replicate of both configurations
    stands = {(one["configuration_hash"], one["replicate"]): one["run"] for one in told["skipped"]}
    old = Run.objects.in_bulk(launched.json()["runs"]).values()
    assert stands == {(run.configuration_hash, run.replicate): run.pk for run in old}
    assert {one["verdict"] for one in told["skipped"]} == {"suspect"}
    assert {replicate for _, replicate in pairs(longer)} == {2}

    again = launch(api, first)
    assert (again.status_code, again.json()["runs"], len(again.json()["skipped"])) == (200, [], 4)
    assert launch(api, first, skip_existing=False).json()["count"] == 4
    assert launch(api, first, skip_existing="yes").json()["field"] == "skip_existing"


def test_what_differs_in_seed_settings_or_code_is_run(
    api: APIClient, ring: dict, house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = made(api, ring, replicates=1)
    runs = launch(api, first).json()["runs"]
    finish(*runs)
    assert launch(api, made(api, ring, replicates=1, seed=6)).json()["count"] == 2
    assert launch(api, made(api, ring, replicates=1, settings={"walk_ttl": 9})).json()["count"] == 2
    Run.objects.filter(pk=runs[0]).update(change={"what": "kill"})
    assert launch(api, first).json()["count"] == 1  # a what-if run is another experiment
    Run.objects.filter(pk=runs[0]).update(change={})
    manifest = house / "runs" / runs[0] / "manifest.json"
    manifest.write_text(json.dumps({"code_digest": "of earlier code"}))
    assert launch(api, first).json()["count"] == 1
    manifest.write_text("{")
    assert launch(api, first).json()["count"] == 1
    monkeypatch.setattr(standing, "simulator_version", lambda _: "of later code")
    assert launch(api, first).json()["count"] == 2


def test_simulated_runs_stand_while_their_service_times_are_the_same(
    api: APIClient, ring: dict, house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = made(api, ring, engine="simulated", replicates=1)
    for run in Run.objects.filter(pk__in=launch(api, first).json()["runs"]):
        services = simulation.services_of(run.configuration, house)
        order = Order(run.pk, run.configuration, seed_of(run), run.replicate, first)
        result = Result("key", "digest", 1, 1.0, 0.1, was_kept=False, was_stopped=False)
        files = simulation.RunFiles(house / "runs" / run.pk)
        files.journal_directory.mkdir(parents=True)
        files.write_manifest(simulation._manifest(order, result, services, run.created))
    Run.objects.update(state=RunState.DONE)
    assert launch(api, first).json()["count"] == 0
    monkeypatch.setattr(standing, "services_of", lambda *_: None)
    assert launch(api, first).json()["count"] == 2
