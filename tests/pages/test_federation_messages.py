"""The messages of a run of a federation, the page of one message's way, and the same by REST."""

from __future__ import annotations

import json
import re

from django.contrib.auth.models import User
from django.test import Client

from brokerweb.experiments.models import Run
from tests.pages.routed import make_run, rows_of


def page_of(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200, address
    return answer.content.decode()


def rows_in(page: str) -> list[str]:
    return re.findall(r"<tr data-row>(.*?)</tr>", page, re.DOTALL)


def data_in(page: str, id: str) -> dict[str, object]:
    return json.loads(re.search(rf'<script id="{id}" type="application/json">(.*?)</script>', page, re.DOTALL)[1])


def test_the_messages_of_a_run(olga: Client, operator: User) -> None:
    run = make_run(operator)
    address = f"/runs/{run.pk}/federation/messages/"
    shown = page_of(olga, f"/runs/{run.pk}/")
    assert f'hx-get="{address}"' in shown
    assert f'href="/runs/{run.pk}/what-if/?change=record_mb"' in shown, "no datagrams: how to get them"
    the_list(olga, run, address)
    row = max(rows_of(run, kind="subscription"), key=lambda row: row["hops"] or 0)
    the_way_of_a_subscription(olga, row, f"{address}{row['id']}/")
    note = next(one for one in rows_of(run, kind="notification") if one["id"] == row["note"])
    page = page_of(olga, f"{address}{note['id']}/")
    assert note["client"] in data_in(page, "sequence-data")["lanes"]
    assert f"{address}{row['id']}/" in page, "its deliveries lead to the subscription"
    assert olga.get(f"{address}n-p0-1/").status_code == 404
    by_rest(olga, run, row)


def the_list(olga: Client, run: Run, address: str) -> None:
    subscriptions = rows_of(run, kind="subscription")
    assert len(rows_in(page_of(olga, address))) == 50
    assert len(rows_in(page_of(olga, f"{address}?page=2"))) == len(subscriptions) - 50
    assert rows_in(page_of(olga, f"{address}?kind=nothing&show=nothing&page=-1")) == rows_in(page_of(olga, address))
    chosen = page_of(olga, f"{address}?client=c1&scope=s1")
    assert len(rows_in(chosen)) == len([one for one in subscriptions if (one["client"], one["scope"]) == ("c1", "s1")])
    cached = page_of(olga, f"{address}?show=cached")
    assert len(rows_in(cached)) == len(rows_of(run, kind="subscription", show="cached")) > 0
    assert "No notification was lost." in page_of(olga, f"{address}?show=lost")
    assert "No message has these values." in page_of(olga, f"{address}?provider=p99")
    assert "room r3" in page_of(olga, f"{address}?kind=notification")
    part = olga.get(address, headers={"HX-Request": "true"}).content.decode()
    assert len(rows_in(part)) == 10


def the_way_of_a_subscription(olga: Client, row: dict[str, object], address: str) -> None:
    page = page_of(olga, address)
    drawn, walk = data_in(page, "sequence-data"), data_in(page, "walk-data")
    assert drawn["lanes"][0] == row["client"]
    assert drawn["messages"][0]["kind"] == "SUBSCRIBE"
    kinds = [one["kind"] for one in walk["passages"]]
    assert kinds.count("answer") == row["hops"] > 0, "what comes back is dashed"
    assert kinds.count("request") > 0
    assert walk["asked"] == int(row["client"][1:]), "as many consumers as brokers"
    steps = " ".join(rows_in(page))
    assert f"got the subscription from {row['client']}" in steps
    assert f"offered the subscription to provider {row['provider']}" in steps
    assert f"notified {row['client']}" in steps


def by_rest(olga: Client, run: Run, row: dict[str, object]) -> None:
    address = f"/api/runs/{run.pk}/traces/"
    found = olga.get(f"{address}?kind=subscription&show=slowest&page_size=5").json()
    assert [one["id"] for one in found["results"]] == [
        one["id"] for one in rows_of(run, kind="subscription", show="slowest")[:5]
    ]
    assert "kind=subscription" in found["next"]
    assert olga.get(f"{address}?show=nothing").json()["field"] == "show"
    assert len(olga.get(f"{address}?kind=subscription&format=csv").content.splitlines()) == 61
    one = olga.get(f"{address}{row['id']}/").json()
    assert one["messages"][-1]["kind"] == "NOTIFY"
    assert one["messages"][-1]["arrived_us"] - one["at_us"] == one["us"] == row["us"]
    assert sum(step["waited_us"] for step in one["steps"]) > 0
    assert olga.get(f"{address}n-p0-1/").status_code == 404


def test_queries_and_the_replay_of_a_run(olga: Client, operator: User) -> None:
    """By QUERY, with scopes that need another, and recorded."""
    run = make_run(operator, record_mb=8, queries=40, query_share=0.5, needs=1)
    address = f"/runs/{run.pk}/federation/messages/"
    queries = rows_of(run, kind="query")
    assert len(rows_in(page_of(olga, f"{address}?kind=query"))) == len(queries) > 10
    assert "Every QUERY was answered." in page_of(olga, f"{address}?kind=query&show=unsatisfied")
    the_way_of_a_query(olga, run, max((row for row in queries if row["scope"] == "s0"), key=lambda row: row["us"]))
    the_replay(olga, run)


def the_way_of_a_query(olga: Client, run: Run, row: dict[str, object]) -> None:
    page = page_of(olga, f"/runs/{run.pk}/federation/messages/{row['id']}/")
    drawn, walk = data_in(page, "sequence-data"), data_in(page, "walk-data")
    assert drawn["lanes"][0] == row["client"]
    assert (drawn["messages"][0]["kind"], drawn["messages"][-1]["kind"]) == ("QUERY", "ANSWER")
    assert {one["kind"] for one in walk["passages"]} == {"request", "answer"}
    steps = " ".join(rows_in(page))
    assert f"got the QUERY from {row['client']}" in steps
    assert re.search(r"for s0, with \d notifications? of what it needs", steps)
    assert "<dd>s1, s0</dd>" in page, "needed ones first"
    one = olga.get(f"/api/runs/{run.pk}/traces/{row['id']}/").json()
    assert (one["kind"], one["outcome"], one["scopes"]) == ("query", "answered", ["s1", "s0"])
    assert one["messages"][-1]["arrived_us"] - one["at_us"] == one["us"]
    assert sum(step["waited_us"] for step in one["steps"]) > 0


def the_replay(olga: Client, run: Run) -> None:
    assert f"/runs/{run.pk}/replay/" in page_of(olga, f"/runs/{run.pk}/")
    page = page_of(olga, f"/runs/{run.pk}/replay/")
    shown = data_in(page, "replay-data")
    assert sum(shown["bins"]) == shown["count"] == sum(shown["families"].values()) > 500
    assert shown["servers"]["3"] == "registration service 0"
    assert [mark["label"] for mark in data_in(page, "marks-data")] == ["warming", "measuring", "draining"]
    rows = olga.get(shown["messages"], {"page_size": shown["page_size"]}).json()
    assert (rows["count"], rows["is_cut"]) == (shown["count"], False)
    between = [row for row in rows["results"] if None not in (row["sender"], row["receiver"])]
    assert all(row["at_us"] <= row["arrived_us"] for row in between if row["arrived_us"] is not None)
    assert {row["family"] for row in rows["results"]} <= set(shown["families"])
    assert {"request", "update", "upkeep"} <= {row["family"] for row in between}
    first = next(row for row in rows["results"] if row["sender"] is None and row["family"] in ("request", "update"))
    assert shown["opens"][0] == first["at_us"] > shown["first_us"], "behind sessions and registrations"
