"""The comparison for scripts and CI: what may be asked, by whom, and what the answer can be trusted for."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from tests.pages.compared import grows, swept, topology

pytestmark = pytest.mark.django_db


def compared(api: APIClient, **query: Any) -> dict[str, Any]:
    answer = api.get("/api/compare/", query)
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def test_a_build_asks_whether_anything_became_worse(api: APIClient, operator: User) -> None:
    over = [topology(operator)]
    before = swept(operator, grows, name="Release", over=over, consumers=[10, 20])

    def slower(configuration: Any, replicate: int) -> float:
        return grows(configuration, replicate) * (2 if configuration["workload"]["consumers"] == 20 else 1)

    swept(operator, slower, name="Nightly", over=over, consumers=[10, 20])
    found = compared(api, q="experiment = Nightly", baseline=f"experiment.id = {before.pk}", metric="p95")
    assert found["verdicts"] == {"better": 0, "worse": 1, "no difference shown": 1, "unknown": 0}
    (worse,) = [group for group in found["results"] if group["difference"]["verdict"] == "worse"]
    assert worse["parameters"]["consumers"] == 20
    assert worse["difference"]["share"] == pytest.approx(1.0)
    assert worse["difference"]["low"] > 0
    assert found["metrics"] == [
        {"name": "p95", "title": "Response time, 95th percentile", "unit": "us", "better": "lower"},
        {"name": "answer_ratio", "title": "Share of requests answered", "unit": "share", "better": "higher"},
    ]


def test_the_runs_of_the_baseline_are_not_held_against_themselves(api: APIClient, operator: User) -> None:
    over = [topology(operator)]
    swept(operator, grows, name="Release", over=over)
    swept(operator, grows, name="Nightly", over=over)
    found = compared(api, baseline="experiment = Release")
    assert found["runs"] == 3
    assert [group["n"] for group in found["results"]] == [3]


def test_groups_are_paged_and_the_verdicts_are_of_all(api: APIClient, operator: User) -> None:
    swept(operator, grows, consumers=[10, 20, 30, 40])
    first = compared(api)["results"][0]["configuration"]
    page = compared(api, baseline=first, page_size=2, page=2)
    assert (page["count"], len(page["results"]), page["next"]) == (4, 2, None)
    assert page["verdicts"]["worse"] == 3


def test_a_median_has_an_interval_from_six_replicates_on(api: APIClient, operator: User) -> None:
    swept(operator, grows, replicates=6)
    figure = compared(api, aggregate="median")["results"][0]["figures"]["p95"]
    assert (figure["low"], figure["value"], figure["high"]) == (100, 107.5, 115)
    lowest = compared(api, aggregate="min")["results"][0]["figures"]["p95"]
    assert (lowest["value"], lowest["low"], lowest["method"]) == (100, None, "no interval of a min")


def test_a_viewer_may_ask_and_a_stranger_may_not(viewer: User, operator: User) -> None:
    client = APIClient()
    assert client.get("/api/compare/").status_code == 401
    client.force_authenticate(viewer)
    assert client.get("/api/compare/").status_code == 200
    assert client.get("/api/compare/distribution/").json()["results"] == []


def test_whatever_stands_in_an_address_is_answered_and_never_breaks(api: APIClient, operator: User) -> None:
    for name in ("metric", "by", "x", "sort", "aggregate", "baseline", "chart", "log", "raw", "q"):
        for value in ("\x00", "(", "🦆", "-", "%", "0" * 16, "a" * 3_000):
            for address in ("/api/compare/", "/api/compare/distribution/"):
                answer = api.get(address, {name: value})
                assert answer.status_code in (200, 400), (name, value, answer.content)
                if answer.status_code == 400:
                    assert answer.json()["field"] == name
