"""The package of a system is removed, but its experiments, runs and networks are still there."""

from __future__ import annotations

import pytest
from django.test import Client

from brokerweb.control.reconcile import reconcile_host
from brokerweb.experiments.models import Run
from brokerweb.networks.models import Network
from brokerweb.simulations import job
from overlay.core.errors import InvalidSetting
from overlay.experiment.definition import check_configuration
from overlay.systems.registry import SYSTEMS
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
WORKLOAD = {"callers": 4, "duration_s": 1, "interval_ms": 200}


def launch(api, ring, **more):
    body = {"name": "echoes", "system": "echo", "topology": ring["id"], "workload": WORKLOAD, **more}
    experiment = api.post("/api/experiments/", body, format="json")
    assert experiment.status_code == 201, experiment.content
    launched = api.post(f"/api/experiments/{experiment.json()['id']}/launch/")
    assert launched.status_code == 201, launched.content
    return Run.objects.get(experiment=experiment.json()["id"])


def test_its_rows_are_shown_its_queued_run_fails_with_a_reason_and_others_go_on(
    api, ring, operator, supervisor, monkeypatch
):
    ended = launch(api, ring, engine="simulated")
    job.compute()
    queued = launch(api, ring, engine="live")
    network = api.post("/api/networks/", {"name": "n", "system": "echo", "topology": ring["id"]}, format="json").json()
    monkeypatch.delitem(SYSTEMS, "echo")

    browser = Client()
    browser.force_login(operator)
    shown = [
        "/",
        "/experiments/",
        "/runs/",
        "/networks/",
        "/api/networks/",
        "/api/systems/",
        f"/networks/{network['id']}/",
    ]
    for run in (ended, queued):
        shown += [f"/runs/{run.pk}/", f"/runs/{run.pk}/what-if/", f"/api/runs/{run.pk}/"]
        shown += [f"/experiments/{run.experiment_id}/", f"/experiments/new/?run={run.pk}"]
    assert {page: browser.get(page).status_code for page in shown} == dict.fromkeys(shown, 200)
    assert "The system echo is not installed here" in browser.get(f"/runs/{ended.pk}/").content.decode()
    again = api.post(f"/api/experiments/{ended.experiment_id}/launch/")
    assert (again.status_code, "not installed" in again.content.decode()) == (400, True), again.content

    def gone_on():
        reconcile_host("here", "test", supervisor)
        return Run.objects.get(pk=queued.pk).state == "failed"

    wait_for(gone_on, "the queued run fails")
    assert "echo is not installed here" in Run.objects.get(pk=queued.pk).reason
    with pytest.raises(InvalidSetting, match="echo is not installed here"):
        check_configuration(queued.configuration)
    sound = launch(api, ring, system="context-broker", workload={}, engine="simulated")
    job.compute()
    assert Run.objects.get(pk=sound.pk).state == "done"
    assert Network.objects.get(pk=network["id"]).system == "echo"
