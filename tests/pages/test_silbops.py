"""The pages of SilboPS: a run in its words, its map, and the break-even of both arms, and the same by REST."""

from __future__ import annotations

import json
import re
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from brokerweb.experiments.models import Run
from tests.pages.moving import make_runs

BREAK_EVEN = "/studies/E2.6/break-even/"


def test_runs_of_both_arms(olga: Client, operator: User) -> None:
    ours, theirs = make_runs(operator)
    the_break_even_has_them(olga, ours.experiment_id)
    assert "Notifications per change" in olga.get(f"/experiments/{ours.experiment_id}/").content.decode()
    page = olga.get(f"/runs/{ours.pk}/").content.decode()
    assert "Back-pressure of all brokers" in page
    assert "Messages of changes per second" in page
    assert f'<a href="/runs/{theirs.pk}/">SIENA, run 2</a>' in page, "next to the other arm"
    moved, replaced = the_map(olga, ours), the_map(olga, theirs)
    assert moved["vehicles"] == replaced["vehicles"], "both arms have the same places"
    last = {one["arm"]: one["sent"][-1] for one in (moved, replaced)}
    assert (last["silbops"]["setctx"], last["silbops"]["subscribe"]) == (24, 0), "squares move, nothing is subscribed"
    assert (last["siena"]["setctx"], last["siena"]["subscribe"], last["siena"]["unsubscribe"]) == (0, 48, 48)
    assert olga.get(f"/api/runs/{ours.pk}/map/?from_s=-1").json()["field"] == "from_s"


def the_break_even_has_them(olga: Client, experiment: str) -> None:
    page = olga.get(BREAK_EVEN).content.decode()
    assert f'<a href="/experiments/{experiment}/">Both arms</a>' in page
    (found,) = [row for row in olga.get(f"/api{BREAK_EVEN}").json()["results"] if row["experiment"] == experiment]
    assert (found["kind"], found["filters"], found["subscriptions"], found["value"]) == ("simulated", 2, 12, 2)


def test_the_break_even_without_runs(olga: Client) -> None:
    page = olga.get(BREAK_EVEN).content.decode()
    rows = re.findall(r"<tr data-row>(.*?)</tr>", page, re.DOTALL)
    assert any("Printed: one message" in row and "1.23" in row for row in rows)
    assert any("two messages" in row and "2.47" in row for row in rows)
    assert any("two messages" in row and "24.7" in row for row in rows), "with 10 filters"
    assert olga.get(f"{BREAK_EVEN}?filters=1&subscriptions=20000").status_code == 200
    wrong = olga.get(f"{BREAK_EVEN}?subscriptions=many")
    assert wrong.status_code == 400
    assert "Subscriptions: Must be a number" in wrong.content.decode()
    assert olga.get(f"/api{BREAK_EVEN}?filters=1000").json()["field"] == "filters"


def the_map(olga: Client, run: Run) -> dict[str, Any]:
    page = olga.get(f"/runs/{run.pk}/silbops/map/").content.decode()
    shown = json.loads(re.search(r'<script id="map-data" type="application/json">(.*?)</script>', page, re.DOTALL)[1])
    assert len(re.findall(r"<tr data-row>", page)) == min(200, len(shown["notifications"])) > 0
    told = olga.get(f"/api/runs/{run.pk}/map/").json()
    assert told == shown
    assert [one["client"] for one in told["vehicles"]] == [f"subscriber-{number}" for number in range(6)]
    assert [one["client"] for one in told["cameras"]] == [f"publisher-{number}" for number in range(3)]
    assert {len(one["places"]) for one in told["cameras"]} == {1}, "cameras stay"
    assert {len(one["places"]) for one in told["vehicles"]} == {5}, "where they began, and 4 s of a change a second"
    return told
