"""The page of a run of ContextNet, in its words, and the same figures by REST."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client

from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Run
from overlay.core.engines import SIMULATED
from overlay.experiment.definition import configurations
from overlay.experiment.sweeps import configuration_hash
from tests.pages.recorded import run_it

WORKLOAD = {"nodes": 12, "messages": 3, "rate_per_min": 20, "connect_interval_ms": 10, "disconnecting_share": 0.5}


def test_a_run_shows_what_became_of_its_messages(olga: Client, operator: User) -> None:
    body = {
        "name": "Nodes",
        "system": "contextnet",
        "engine": SIMULATED,
        "workload": WORKLOAD | {"off_s": 3, "on_s": 6},
    }
    experiment = experiments.create(body, operator)
    (configuration,) = configurations(experiment.definition, experiments.find_topology)
    run = Run.objects.create(
        experiment=experiment,
        configuration=configuration,
        configuration_hash=configuration_hash(configuration),
        seed="7",
        owner=operator,
    )
    run_it(run)
    page = olga.get(f"/runs/{run.pk}/").content.decode()
    assert "Transmission efficiency" in page
    assert "Connections and records under way" in page
    assert olga.get(f"/experiments/{experiment.pk}/").status_code == 200
    found = olga.get(f"/api/runs/{run.pk}/").json()
    measures = found["summary"]["measures"]
    assert (measures["sent"], measures["delivered"], measures["te"], measures["duplicates"]) == (36, 36, 100, 0)


def test_a_form_offers_the_workload_without_a_topology(olga: Client) -> None:
    page = olga.get("/experiments/new/?system=contextnet").content.decode()
    assert "Mobile nodes in all." in page
    assert "Messages that cannot be delivered" in page
