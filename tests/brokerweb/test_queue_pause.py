"""The pause of the queue: queued runs are not launched, running ones continue, and every page shows it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient

from brokerweb.control.runs import claim
from brokerweb.experiments.models import Run, RunState
from brokerweb.networks.models import Host
from brokerweb.simulations import queue as simulations

pytestmark = pytest.mark.django_db


@pytest.fixture
def queued(api: APIClient, ring: dict) -> list[str]:
    """Two live runs that wait, on a host whose worker answers."""
    Host.objects.create(name="here", heartbeat=timezone.now())
    return launched(api, ring, replicates=2)


def launched(api: APIClient, ring: dict, **more: Any) -> list[str]:
    made = api.post("/api/experiments/", {"name": "e", "topology": ring["id"], **more}, format="json")
    assert made.status_code == 201, made.content
    return api.post(f"/api/experiments/{made.json()['id']}/launch/").json()["runs"]


def test_while_it_is_paused_nothing_is_launched_and_whoever_waits_is_told_since_when(
    api: APIClient, queued: list[str]
) -> None:
    paused = api.post("/api/queue/pause/").json()
    assert (paused["paused"], paused["by"], paused["queued"], paused["ends_s"]) == (True, "olga", 2, None)
    assert claim("here", "reconciler") is None
    shown = api.get(f"/api/runs/{queued[0]}/").json()
    assert shown["waiting_for"].startswith("the queue has been paused since 20")
    assert shown["waiting_for"].endswith("UTC by olga")
    assert shown["eta_s"] is None

    resumed = api.post("/api/queue/resume/").json()
    assert (resumed["paused"], resumed["since"], resumed["held"]) == (False, None, "")
    assert resumed["ends_s"] > 0
    assert claim("here", "reconciler") is not None


def test_what_runs_goes_on(api: APIClient, queued: list[str]) -> None:
    running = claim("here", "reconciler")
    assert running is not None
    api.post("/api/queue/pause/")
    shown = api.get(f"/api/runs/{running.pk}/").json()
    assert (shown["state"], shown["waiting_for"]) == ("launching", "")
    assert api.get("/api/queue/").json()["active"] == 1


def test_a_second_pause_keeps_the_first_and_a_second_resume_is_harmless(api: APIClient, db: None) -> None:
    first = api.post("/api/queue/pause/").json()["since"]
    assert api.post("/api/queue/pause/").json()["since"] == first
    assert api.post("/api/queue/resume/").json()["paused"] is False
    assert api.post("/api/queue/resume/").json()["paused"] is False


def test_simulated_runs_wait_too(api: APIClient, ring: dict) -> None:
    launched(api, ring, engine="simulated")
    api.post("/api/queue/pause/")
    assert simulations.begin("worker") == []
    assert "paused" in simulations.waits_for()
    assert not simulations.holds_up_runs()
    api.post("/api/queue/resume/")
    assert len(simulations.begin("worker")) == 1


def test_a_batch_that_is_under_way_gives_back_what_it_has_not_begun(api: APIClient, ring: dict) -> None:
    launched(api, ring, engine="simulated", replicates=2)
    first, second = simulations.begin("worker")
    simulations.give_back(second, "The queue was paused")
    second.refresh_from_db()
    assert (second.state, second.lease_owner) == (RunState.QUEUED, "")
    assert Run.simulating().get() == first


def test_only_operators_pause_it(viewer: User) -> None:
    client = APIClient()
    client.force_authenticate(viewer)
    assert client.post("/api/queue/pause/").status_code == 403
    assert client.get("/api/queue/").json()["paused"] is False
