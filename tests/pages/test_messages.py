"""The messages of a run of Radiator, and the page of one message's complete way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from brokerweb.experiments.models import Run, RunState
from telemetry.lake.runs import Lake, RunFiles
from telemetry.systems.radiator import messages, way_files
from telemetry.systems.radiator.ways import Way
from tests.pages.pushed import make_run


@pytest.fixture
def run(operator: User) -> Run:
    return make_run(operator)


def page_of(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200, address
    return answer.content.decode()


def rows_of(page: str) -> list[str]:
    return re.findall(r"<tr data-row>(.*?)</tr>", page, re.DOTALL)


def listed(run: Run, view: str = "all") -> list[dict[str, Any]]:
    return messages.listed(RunFiles(Path(settings.RUNS) / run.pk), view, 0, 1_000)[1]


def ways(run: Run, rows: list[dict[str, Any]]) -> Iterator[Way]:
    for row in rows:
        found = way_files.find(RunFiles(Path(settings.RUNS) / run.pk), Lake(Path(settings.LAKE)), row["id"])
        assert found is not None
        yield found


def test_messages_are_listed_filtered_and_paged(olga: Client, run: Run) -> None:
    address = f"/runs/{run.pk}/messages/"
    assert f'hx-get="{address}"' in page_of(olga, f"/runs/{run.pk}/")
    assert len(rows_of(page_of(olga, address))) == 50
    assert len(rows_of(page_of(olga, f"{address}?page=2"))) == 10
    assert rows_of(page_of(olga, f"{address}?page=99999999999")) == rows_of(page_of(olga, address))
    assert rows_of(page_of(olga, f"{address}?show=nothing&page=-1")) == rows_of(page_of(olga, address))
    assert rows_of(page_of(olga, f"{address}?page=9")) == rows_of(page_of(olga, f"{address}?page=2"))
    all_rows = listed(run)
    failed = page_of(olga, f"{address}?show=failed")
    assert len(rows_of(failed)) == sum(row["failed"] > 0 or row["late"] > 0 for row in all_rows) > 0
    refused = page_of(olga, f"{address}?show=refused")
    assert len(rows_of(refused)) == sum(row["number"] is None for row in all_rows) > 0
    part = olga.get(address, headers={"HX-Request": "true"}).content.decode()
    assert len(rows_of(part)) == 10
    assert "Show all" in part


def test_each_message_has_a_page_with_its_complete_way(olga: Client, run: Run) -> None:
    way, one, chain = next(
        (way, one, chain)
        for way in ways(run, listed(run, "failed"))
        for one in way.propagations
        for chain in one.chains
        if chain.repairs and any(step.step == "failed" for step in chain.steps)
    )
    address = f"/runs/{run.pk}/messages/{way.row['id']}/"
    page = page_of(olga, f"{address}?propagation={one.number}&chain={chain.number}")
    assert f"Chain {chain.number} of propagation {one.number}" in page
    (drawn,) = re.findall(rf'<ol class="hops" aria-label="Chain {chain.number} of.*?</ol>', page, re.DOTALL)
    assert [int(client) for client in re.findall(r"<strong>client (\d+)</strong>", drawn)] == list(chain.clients)
    assert "FAILED: no ACK" in drawn
    assert "pushed by the server" in drawn
    assert "FAILED to the server" in page
    assert 'id="sequence-data"' in page
    assert "volume 4" in page
    missing = page.split('id="undelivered"')[1]
    assert len(re.findall(r"<tr><td>\d+</td><td>(?:failed|dropped|retained)", missing)) == len(way.undelivered)
    for text in ("propagation=x&chain=-1", "propagation=999999999&chain=77&hops=0&chains=abc"):
        assert "Propagation" in page_of(olga, f"{address}?{text}")
    retained = next(row for row in listed(run, "retained") if row["retained"] and not row["propagations"])
    page = page_of(olga, f"/runs/{run.pk}/messages/{retained['id']}/")
    assert "retained" in page and "Emitted" not in page
    page = page_of(olga, f"/runs/{run.pk}/messages/{listed(run, 'refused')[0]['id']}/")
    assert "Not accepted" in page and "Recipients" not in page


def test_rest_has_what_the_pages_show(olga: Client, run: Run) -> None:
    here = f"/api/runs/{run.pk}/traces/"
    failed = olga.get(here, {"show": "failed", "page_size": 1}).json()
    assert (failed["count"], failed["results"]) == (len(listed(run, "failed")), listed(run, "failed")[:1])
    assert "show=failed" in failed["next"]
    assert len(olga.get(here, {"format": "csv"}).content.decode().splitlines()) == 1 + len(listed(run))
    assert olga.get(here, {"show": "nothing"}).json()["field"] == "show"
    (way,) = ways(run, listed(run, "failed")[:1])
    found = olga.get(f"{here}{way.row['id']}/").json()
    assert {name: found[name] for name in ("delivered", "failed")} == {
        name: way.row[name] for name in ("delivered", "failed")
    }
    assert [one["number"] for one in found["propagations"]] == [one.number for one in way.propagations]
    assert sum(one["recipients"] for one in found["queues"]) == way.row["due"]
    hops = [hop for one in found["propagations"] for chain in one["chains"] for hop in chain["hops"]]
    assert sum(hop["state"] == "delivered" for hop in hops) > 0
    assert {one["client"] for one in found["undelivered"]} == {one.client for one in way.undelivered}
    for unknown in (f"{'0' * 16}-1", "0" * 16):
        assert olga.get(f"{here}{unknown}/").status_code == 404


def test_large_chains_are_folded_and_paged(olga: Client, operator: User) -> None:
    settings = {"chain_percent": 100, "aggregability": "{volume: 1}", "trace_one_in": 4}
    run = make_run(operator, settings, clients=140, duration_s=3, messages_per_s=2, drain_s=1)
    traced = next(row for row in listed(run) if row["traced"])
    bare = next(row for row in listed(run) if not row["traced"] and row["number"] is not None)
    assert "This message was not traced" in page_of(olga, f"/runs/{run.pk}/messages/{bare['id']}/")
    address = f"/runs/{run.pk}/messages/{traced['id']}/"
    page = page_of(olga, address)
    assert len(page) < 120_000
    assert len(re.findall(r'<li class="chain-hop', page)) <= 60
    assert "chain-hop is-gap" in page
    hops = page.split('id="hops"')[1]
    assert len(rows_of(hops)) == 100
    assert rows_of(page_of(olga, f"{address}?hops=2").split('id="hops"')[1])[0] != rows_of(hops)[0]


def test_without_messages_the_list_says_what_to_do(olga: Client, operator: User) -> None:
    run = make_run(operator, is_done=False)
    address = f"/runs/{run.pk}/messages/"
    assert "when the run has ended" in page_of(olga, address)
    Run.objects.filter(pk=run.pk).update(state=RunState.FAILED)
    page = page_of(olga, address)
    assert "Run it again" in page and "New experiment" in page
    for message in ("nothing", "0.0", "%00", "a" * 300):
        assert olga.get(f"{address}{message}/").status_code == 404
    assert Client().get(address).status_code == 302
    Run.objects.filter(pk=run.pk).update(configuration={**run.configuration, "system": "context-broker"})
    assert olga.get(address).status_code == 404
