"""Faults and brokers that go are marks of a run's charts: in the snapshot, in REST, and announced on the page."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from brokerweb.live.snapshots import current
from tests.pages.recorded import make_run
from tests.pages.test_replay import data_of

FAULTS: list[dict[str, Any]] = [
    {"what": "slow", "links": [[0, 1]], "delay_ms": 200, "at_s": 1, "until_s": 3},
    {"what": "restart", "brokers": [2], "at_s": 2},
]


@pytest.mark.django_db
def test_faults_are_marks_of_a_runs_charts_with_their_times(olga: Client) -> None:
    run = make_run(User.objects.get(username="olga"), record_mb=0, faults=FAULTS)
    frame = olga.get(f"/api/runs/{run.id}/series/").json()
    marks = {mark["label"]: mark for mark in frame["marks"]}
    measuring_s = marks["measuring"]["at_s"]
    slow = {"at_s": measuring_s + 1, "until_s": measuring_s + 3, "label": "1 link +200 ms", "kind": "fault"}
    assert marks["1 link +200 ms"] == pytest.approx(slow)
    assert marks["broker 2 restarted"]["until_s"] is None
    assert current(run)["marks"] == frame["marks"]
    page = olga.get(f"/runs/{run.id}/").content.decode()
    assert "1 link +200 ms 1–3 s; broker 2 restarted 2 s after the start of measuring" in page
    assert [(fault["at_s"], fault["label"]) for fault in data_of(page, "live")["planned"]] == [
        (1, "1 link +200 ms"),
        (2, "broker 2 restarted"),
    ]
