"""The operator's journey through REST only, with httpx and a token: topology, runs, cancel, report, network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.conftest import Stack
from tests.waiting import BOUND_S, wait_for

pytestmark = pytest.mark.stack

ENDED = ("done", "failed", "cancelled")


class Api:
    """REST as a script uses it."""

    def __init__(self, stack: Stack) -> None:
        self.credentials = {"username": stack.username, "password": stack.password}
        made = httpx.post(f"{stack.url}/api/tokens/", json=self.credentials, timeout=BOUND_S)
        assert made.status_code == 201, made.text
        headers = {"Authorization": f"Bearer {made.json()['token']}"}
        self.http = httpx.Client(base_url=f"{stack.url}/api", headers=headers, timeout=BOUND_S)

    def get(self, path: str) -> dict[str, Any]:
        answer = self.http.get(path)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def post(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        answer = self.http.post(path, json=body or {})
        assert answer.is_success, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def wait(self, path: str, until: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Asks until it is so; REST has no other way."""

        def found() -> dict[str, Any] | None:
            answer = self.get(path)
            return answer if until(answer) else None

        return wait_for(found, path, every=0.3) or {}


@pytest.fixture
def api(stack: Stack) -> Iterator[Api]:
    api = Api(stack)
    yield api
    api.http.close()


def make_room(api: Api) -> None:
    """Cancels what the first start has left to do."""
    for state in ("queued", "launching", "warming", "measuring"):
        for run in api.get(f"/runs/?state={state}")["results"]:
            api.http.post(f"/runs/{run['id']}/cancel/")


def test_runs_are_launched_watched_cancelled_finished_and_reported(api: Api) -> None:
    make_room(api)
    topology = api.post(
        "/topologies/",
        {"name": "by REST", "kind": "waxman", "brokers": 6, "params": {"mean_degree": 2.0}, "seed": 3},
    )
    assert topology["measures"]["connected"]
    workload = {"providers": 2, "consumers": 5, "update_interval_s": 1, "request_interval_s": 0.5, "duration_s": 8}
    body = {"name": "by REST", "topology": topology["id"], "workload": workload, "replicates": 2, "seed": 9}
    experiment = api.post("/experiments/", body)
    launched = api.post(f"/experiments/{experiment['id']}/launch/")
    assert launched["count"] == 2
    first, second = launched["runs"]

    api.wait(f"/runs/{first}/", lambda run: run["state"] in ("measuring", "collecting", *ENDED))
    api.post(f"/runs/{second}/cancel/")
    assert api.wait(f"/runs/{second}/", lambda run: run["state"] in ENDED)["state"] == "cancelled"
    run = api.wait(f"/runs/{first}/", lambda run: run["state"] in ENDED)
    assert run["state"] == "done", run["reason"]

    summary = run["summary"]
    assert summary["requests"] > 0
    outcomes = ("answered", "not_found", "timed_out", "refused")
    assert summary["requests"] == sum(summary[outcome] for outcome in outcomes)
    assert summary["timed_out"] == 0
    assert 0 < summary["p50"] <= summary["p95"] <= summary["p99"]
    assert len(summary["memory"]["brokers"]) == 6
    assert api.get(f"/runs/{first}/series/")["series"]["t"]

    report = api.post("/reports/", {"kind": "comparison", "runs": [first]})
    report = api.wait(f"/reports/{report['id']}/", lambda report: report["state"] in ("done", "failed"))
    assert report["state"] == "done", report["reason"]
    assert {chart["id"] for chart in report["charts"]} >= {"response-time", "figure-4.3"}
    page = api.http.get(f"/reports/{report['id']}/html/")
    assert page.status_code == 200
    assert "<html" in page.text


def test_a_network_stays_up_and_answers_what_was_provided(api: Api) -> None:
    topology = api.post("/topologies/", {"name": "campus ring", "kind": "ring", "brokers": 5})
    network = api.post("/networks/", {"name": "campus", "topology": topology["id"]})
    path = f"/networks/{network['id']}/"
    up = api.wait(path, lambda found: found["state"] in ("running", "failed"))
    assert up["state"] == "running", up["reason"]
    assert [broker["state"] for broker in up["brokers"]] == ["up"] * 5

    body = {"provider": "sensor-1", "payload": {"degC": "21.5"}, "valid_ms": 60_000}
    assert api.http.put(f"{path}context/room/kitchen/climate/", json=body).is_success
    entry = api.get(f"{path}context/room/kitchen/climate/")
    assert (entry["provider"], entry["payload"]) == ("sensor-1", {"degC": "21.5"})
    assert api.http.get(f"{path}context/room/attic/climate/").status_code == 404

    api.post(f"{path}stop/")
    assert api.wait(path, lambda found: found["state"] in ("stopped", "failed"))["state"] == "stopped"
