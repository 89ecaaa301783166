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
