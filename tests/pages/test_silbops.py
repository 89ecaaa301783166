"""The pages of SilboPS: a run in its words, its map, and the break-even of both arms, and the same by REST."""

from __future__ import annotations

import json
import re
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from brokerweb.experiments.models import Run
from tests.pages.moving import make_runs, rows_of

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
    the_publications(olga, ours)
    for run in (ours, theirs):
        the_way_of_a_publication(olga, run)


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


def the_publications(olga: Client, run: Run) -> None:
    address = f"/runs/{run.pk}/silbops/publications/"
    assert f'hx-get="{address}"' in olga.get(f"/runs/{run.pk}/").content.decode()
    rows = rows_of(run)
    assert len(rows) == 3 * 4, "3 cameras, 4 s"
    assert len(rows_in(olga, address)) == len(rows)
    assert len(rows_in(olga, f"{address}?publisher=publisher-1")) == 4
    got = rows_in(olga, f"{address}?subscriber=subscriber-2&show=nothing&page=9")
    assert len(got) == len(rows_of(run, subscriber="subscriber-2"))
    assert "No publication has these values." in olga.get(f"{address}?attribute=none").content.decode()
    assert "None was lost." in olga.get(f"{address}?show=lost").content.decode()
    assert len(re.findall("<tr data-row>", olga.get(address, headers={"HX-Request": "true"}).content.decode())) == 10
    rest = f"/api/runs/{run.pk}/traces/"
    found = olga.get(f"{rest}?show=slowest&page_size=2").json()
    assert [one["id"] for one in found["results"]] == [one["id"] for one in rows_of(run, show="slowest")[:2]]
    assert "about" not in found["results"][0]
    assert olga.get(f"{rest}?show=nothing").json()["field"] == "show"
    assert olga.get(f"{rest}?publisher=publisher-1").json()["count"] == 4
    assert olga.get(f"{rest}?subscriber=subscriber-2").json()["count"] == len(got)
    assert olga.get(f"{rest}?attribute=none").json()["count"] == 0
    assert len(olga.get(f"{rest}?format=csv").content.splitlines()) == len(rows) + 1


def the_way_of_a_publication(olga: Client, run: Run) -> None:
    row = max(rows_of(run), key=lambda row: row["delivered"])
    address = f"/runs/{run.pk}/silbops/publications/{row['id']}/"
    page = olga.get(address).content.decode()
    drawn, walk = data_in(page, "sequence-data"), data_in(page, "walk-data")
    assert drawn["lanes"][:2] == [row["publisher"], f"b{walk['asked']}"]
    kinds = [one["kind"] for one in drawn["messages"]]
    assert (kinds[0], kinds.count("NOTIFY")) == ("PUBLISH", row["delivered"])
    assert len(walk["passages"]) == 1, "two brokers: sent, or filtered"
    steps = " ".join(rows_in(olga, address))
    assert f"got the publication from {row['publisher']}" in steps
    assert "by its content" in steps
    assert "notified subscriber-" in steps
    told = olga.get(f"/api/runs/{run.pk}/traces/{row['id']}/").json()
    assert len(told["deliveries"]) == row["delivered"] > 0
    assert [one["kind"] for one in told["messages"]] == kinds
    assert {one["client"] for one in told["without"]} | {one["client"] for one in told["deliveries"]} == {
        f"subscriber-{number}" for number in range(6)
    }
    assert not any("nothing" in one["says"] for one in told["without"]), "none lost it"
    assert olga.get(f"/api/runs/{run.pk}/traces/publisher-0-0/").status_code == 404
    assert olga.get(f"/runs/{run.pk}/silbops/publications/publisher-0-0/").status_code == 404


def rows_in(olga: Client, address: str) -> list[str]:
    return re.findall(r"<tr data-row>(.*?)</tr>", olga.get(address).content.decode(), re.DOTALL)


def data_in(page: str, id: str) -> dict[str, Any]:
    return json.loads(re.search(rf'<script id="{id}" type="application/json">(.*?)</script>', page, re.DOTALL)[1])


def the_map(olga: Client, run: Run) -> dict[str, Any]:
    page = olga.get(f"/runs/{run.pk}/silbops/map/").content.decode()
    shown = data_in(page, "map-data")
    assert len(re.findall(r"<tr data-row>", page)) == min(200, len(shown["notifications"])) > 0
    told = olga.get(f"/api/runs/{run.pk}/map/").json()
    assert told == shown
    assert [one["client"] for one in told["vehicles"]] == [f"subscriber-{number}" for number in range(6)]
    assert [one["client"] for one in told["cameras"]] == [f"publisher-{number}" for number in range(3)]
    assert {len(one["places"]) for one in told["cameras"]} == {1}, "cameras stay"
    assert {len(one["places"]) for one in told["vehicles"]} == {5}, "where they began, and 4 s of a change a second"
    return told
