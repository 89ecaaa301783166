"""Lists read by cursor: nothing twice, nothing missed, however the list grows meanwhile."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from brokerweb.api.cursors import part_of_log
from brokerweb.experiments.models import Experiment, Run

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)


@pytest.fixture
def runs(operator: User) -> list[str]:
    """Eleven of two launches, each at one instant; in the order of lists."""
    experiment = Experiment.objects.create(name="e", definition={"system": "s", "engine": "live", "replicates": 1})
    return launched(experiment, NOON, 5) + launched(experiment, NOON - timedelta(seconds=1), 6)


def launched(experiment: Experiment, at: datetime, number: int) -> list[str]:
    shape = {"configuration": {}, "seed": "1", "created": at, "experiment": experiment}
    rows = [Run(position=position // 2, **shape) for position in range(number)]
    return [run.pk for run in sorted(Run.objects.bulk_create(rows), key=lambda run: (run.position, run.pk))]


def ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [row["id"] for row in answer.json()["results"]]


def test_a_list_is_read_forth_and_back_while_it_grows(api: APIClient, runs: list[str]) -> None:
    pages, answer = [], api.get("/api/runs/?cursor=&page_size=4")
    assert (answer.json()["count"], answer.json()["previous"]) == (11, None)
    while True:
        pages.append(ids(answer))
        launched(Experiment.objects.get(), NOON + timedelta(hours=len(pages)), 3)  # each would move a numbered page
        if not answer.json()["next"]:
            break
        answer = api.get(answer.json()["next"])
    assert pages == [runs[:4], runs[4:8], runs[8:]]
    answer = api.get(answer.json()["previous"])
    assert ids(answer) == runs[4:8]
    Run.objects.filter(pk__in=runs[:4]).delete()  # also the row that the cursor names
    assert ids(api.get(answer.json()["next"])) == runs[8:]
    newest = api.get(answer.json()["previous"])
    assert len(ids(newest)) == 4
    assert ids(api.get(newest.json()["next"])) == runs[4:8]


def test_filters_and_sizes_stay_with_the_cursor_and_page_numbers_work(api: APIClient, runs: list[str]) -> None:
    answer = api.get("/api/runs/?state=queued&page_size=3&cursor=")
    assert "state=queued" in answer.json()["next"]
    assert ids(api.get(answer.json()["next"])) == runs[3:6]
    numbered = api.get("/api/runs/?page=2&page_size=4").json()
    assert [run["position"] for run in numbered["results"]]
    assert set(numbered) == set(answer.json()) == {"count", "next", "previous", "results"}


def encoded(document: Any) -> str:
    return urlsafe_b64encode(json.dumps(document).encode()).decode()


@pytest.mark.parametrize(
    "query",
    [
        {"cursor": "nonsense"},
        {"cursor": "é" * 2_000},
        {"cursor": encoded({})},
        {"cursor": encoded([False])[:-4] + "A==="},
        {"cursor": encoded([False, "2026-11-28T12:00:00+00:00", 0])},
        {"cursor": encoded([False, "2026-11-28T12:00:00", 0, "x"])},
        {"cursor": encoded([False, "2026-11-28T12:00:00+00:00", 2**70, "x"])},
        {"cursor": encoded([False, "2026-11-28T12:00:00+00:00", [0], "x"])},
        {"cursor": encoded([False, "2026-11-28T12:00:00+00:00", 0, "x\0"])},
        {"cursor": encoded([False, "0001-01-01T00:00:00+23:59", 0, "x"])},
    ],
)
def test_what_is_no_cursor_is_refused(api: APIClient, query: dict[str, str]) -> None:
    refused = api.get("/api/runs/", query)
    assert (refused.status_code, refused.json()["field"]) == (400, "cursor")


@pytest.mark.parametrize("other", ["page", "ordering"])
def test_a_cursor_is_not_combined_with_another_order(api: APIClient, other: str) -> None:
    refused = api.get("/api/runs/", {"cursor": "", other: "1" if other == "page" else "created"})
    assert (refused.status_code, refused.json()["field"]) == (400, other)


def test_every_list_that_grows_is_read_by_cursor(api: APIClient, runs: list[str], ring: dict[str, Any]) -> None:
    for path in ("experiments", "networks", "reports", "schedules", "tags", "hosts", "notifications", "views"):
        assert api.get(f"/api/{path}/?cursor=").status_code == 200, path
    assert ids(api.get("/api/topologies/?cursor=")) == [ring["id"]]
    assert api.get(f"/api/topologies/{ring['id']}/versions/?cursor=").json()["count"] == 1
    for path in ("systems", "tokens"):  # those are few
        assert api.get(f"/api/{path}/?cursor=").json()["field"] == "cursor"
    events = api.get(f"/api/runs/{runs[0]}/events/?cursor=")
    assert (events.status_code, events.json()["next"]) == (200, None)


@dataclass(frozen=True)
class Entry:
    at: datetime
    name: int


@given(st.lists(st.integers(0, 4), max_size=12).map(sorted), st.integers(1, 5))
def test_a_log_is_read_whole_forth_and_back(seconds: list[int], size: int) -> None:
    rows = [Entry(NOON + timedelta(seconds=second), number) for number, second in enumerate(seconds)]
    part, read = part_of_log(rows, "", size), []
    assert part.before is None
    while True:
        read += part.rows
        if part.after is None:
            break
        part = part_of_log(rows, part.after.text, size)
    assert read == rows
    back = list(part.rows)
    while part.before is not None:
        part = part_of_log(rows, part.before.text, size)
        back = part.rows + back
    assert back == rows
