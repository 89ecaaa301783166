"""Single queries of a run, through REST: lists that are filtered, ordered and paged, and one query whole."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from telemetry.collect import collect
from telemetry.lake.runs import Lake, RunFiles
from tests.telemetry.synthetic import Script, write_run
from tests.telemetry.traced import write_traces

SMALL = {"providers": 1, "consumers": 2, "update_interval_s": 1, "request_interval_s": 0.2, "duration_s": 1}


@pytest.fixture
def run(api: APIClient, ring: dict[str, Any]) -> str:
    """A run whose brokers reported three queries; it was not collected yet."""
    body = {"name": "traced", "topology": ring["id"], "workload": SMALL, "settings": {"trace_one_in": 7}}
    experiment = api.post("/api/experiments/", body, format="json").json()
    launched = api.post(f"/api/experiments/{experiment['id']}/launch/").json()["runs"][0]
    write_traces(write_run(Path(settings.RUNS) / launched, Script(brokers=4)), [0, 1, 2, 3])
    return launched


def listed(api: APIClient, run: str, query: str = "") -> dict[str, Any]:
    answer = api.get(f"/api/runs/{run}/traces/{query}")
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.mark.parametrize("collected", [False, True])
def test_queries_are_listed_by_outcome_and_order(api: APIClient, run: str, collected: bool) -> None:
    if collected:
        collect(RunFiles(Path(settings.RUNS) / run), Lake(settings.LAKE))
    found = listed(api, run)
    assert [(row["entity"], row["outcome"]) for row in found["results"]] == [
        ("room|r0|climate", "answered"),
        ("room|r7|climate", "not_found"),
        ("room|r3|climate", "lost"),
    ]
    assert (found["count"], found["traced_one_in"], found["kept_one_in"]) == (3, 7, 1)
    answered = found["results"][0]
    assert (answered["ms"], answered["hops"], answered["messages"], answered["asked"]) == (2.42, 3, 6, 0)
    assert (answered["replicas"], answered["partial"]) == ([1], False)
    assert datetime.fromisoformat(answered["at"]).timestamp() == answered["timestamp_ms"] / 1000
    latest = listed(api, run, "?order=latest&outcome=lost,not_found")
    assert [row["outcome"] for row in latest["results"]] == ["lost", "not_found"]
    assert listed(api, run, "?order=longest")["results"][0] == answered


def test_one_query_is_told_whole(api: APIClient, run: str) -> None:
    trace = listed(api, run)["results"][0]["id"]
    query = api.get(f"/api/runs/{run}/traces/{trace}/").json()
    ways = [(one["number"], one["kind"], one["sender"], one["receiver"]) for one in query["passages"]]
    assert ways[:3] == [(1, "request", 0, 1), (2, "request", 1, 2), (3, "request", 2, 3)]
    assert ways[3:] == [(None, "answer", 3, 2), (None, "answer", 2, 1), (None, "answer", 1, 0)]
    assert [one["ms"] for one in query["passages"][:3]] == [0.28, 0.28, 0.28]
    first, *_, last = query["steps"]
    assert first == {"at_ms": 0, "broker": 0, "step": "received", "peer": None, "with_consumer": True, "detail": ""}
    assert (last["at_ms"], last["step"], last["with_consumer"]) == (2.42, "replied", True)
    assert (query["silent"], query["client"]) == ([], None)
    assert (query["ending"]["name"], query["ending"]["word"]) == ("found_remote", "found elsewhere")


def test_how_a_query_ended_is_said_in_a_sentence(api: APIClient, operator: User, run: str) -> None:
    browser = Client()
    browser.force_login(operator)
    said = {}
    for row in listed(api, run)["results"]:
        ending = api.get(f"/api/runs/{run}/traces/{row['id']}/").json()["ending"]
        said[row["outcome"]] = ending["name"]
        page = browser.get(f"/runs/{run}/queries/{row['id']}/").content.decode()
        assert ending["word"] in page
        assert ending["sentence"] in page
    # Two hops are no walk that was used up, and the broker that was asked last reported nothing.
    assert said == {"answered": "found_remote", "not_found": "dead_end", "lost": "broker_gone"}
    assert "Query outcomes" in browser.get(f"/runs/{run}/queries/").content.decode()


def test_a_partial_trace_says_who_reported_nothing(api: APIClient, ring: dict[str, Any], run: str) -> None:
    (lost,) = listed(api, run, "?outcome=lost")["results"]
    assert (lost["ms"], lost["partial"]) == (None, True)
    assert api.get(f"/api/runs/{run}/traces/{lost['id']}/").json()["silent"] == [3]


def test_lists_are_paged_and_say_where_the_next_page_is(api: APIClient, run: str) -> None:
    first = listed(api, run, "?page_size=2&order=latest")
    assert (len(first["results"]), first["previous"]) == (2, None)
    second = api.get(first["next"]).json()
    assert (len(second["results"]), second["next"]) == (1, None)
    assert second["previous"].endswith("page=1")


@pytest.mark.parametrize(
    ("query", "field"),
    [("outcome=late", "outcome"), ("order=best", "order"), ("page=0", "page"), ("page_size=1001", "page_size")],
)
def test_what_cannot_be_asked_for_is_named(api: APIClient, run: str, query: str, field: str) -> None:
    answer = api.get(f"/api/runs/{run}/traces/?{query}")
    assert (answer.status_code, answer.json()["field"]) == (400, field)


@pytest.mark.parametrize("trace", ["0" * 16, "nothing", "..", "0" * 17, "%00"])
def test_a_trace_there_is_not_is_404(api: APIClient, run: str, trace: str) -> None:
    assert api.get(f"/api/runs/{run}/traces/{trace}/").status_code == 404
    assert api.get("/api/runs/nothing/traces/").status_code == 404


def test_traces_are_for_whoever_may_look_and_for_nobody_else(api: APIClient, viewer: User, run: str) -> None:
    trace = listed(api, run)["results"][0]["id"]
    addresses = [f"/api/runs/{run}/traces/", f"/api/runs/{run}/traces/{trace}/"]
    looking = APIClient()
    looking.force_authenticate(viewer)
    assert [looking.get(address).status_code for address in addresses] == [200, 200]
    assert [looking.post(address).status_code for address in addresses] == [403, 403]
    assert [Client().get(address).status_code for address in addresses] == [401, 401]


def test_the_schema_describes_both(client: Client) -> None:
    text = client.get("/api/schema/").content.decode()
    assert "/api/runs/{id}/traces/:" in text
    assert "/api/runs/{id}/traces/{trace}/:" in text
    assert "TracePassage" in text


def test_pages_show_queries_their_walk_and_what_to_set_where_nothing_was_traced(
    api: APIClient, operator: User, run: str, ring: dict[str, Any]
) -> None:
    browser = Client()
    browser.force_login(operator)
    part = browser.get(f"/runs/{run}/queries/?show=failed", headers={"HX-Request": "true"}).content.decode()
    assert "room|r7|climate" in part
    assert "<html" not in part
    assert "room|r0|climate" not in part
    whole = browser.get(f"/runs/{run}/queries/").content.decode()
    assert "one in 7" in whole
    assert "room|r0|climate" in whole
    trace = listed(api, run)["results"][0]["id"]
    page = browser.get(f"/runs/{run}/queries/{trace}/").content.decode()
    assert "forwarded the request to broker 1" in page
    assert "stored a replica" in page
    assert browser.get(f"/runs/{run}/queries/{'0' * 16}/").status_code == 404
    assert browser.get(f"/runs/{run}/queries/?show=%00&page=x").status_code == 200
    body = {"name": "dark", "topology": ring["id"], "workload": SMALL, "settings": {"trace_one_in": 0}}
    experiment = api.post("/api/experiments/", body, format="json").json()
    dark = api.post(f"/api/experiments/{experiment['id']}/launch/").json()["runs"][0]
    assert "Trace one in" in browser.get(f"/runs/{dark}/queries/").content.decode()
