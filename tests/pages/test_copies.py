"""What brokers held when a run ended, on its page and through REST."""

from __future__ import annotations

import json
from math import log

import pytest
from django.conf import settings
from django.test import Client

from brokerweb.experiments import collection
from overlay.journal.facts import Holdings, Sample
from overlay.journal.journal import JournalWriter
from telemetry.lake.runs import RunFiles
from tests.pages.furniture import House
from tests.telemetry.synthetic import MEASURING_FROM, _start


def with_copies(run) -> None:
    """Three entities, asked for 40, 10 and 5 times as often; the first at 8 brokers, the others at 4 and 2."""
    files = RunFiles(settings.RUNS / run.pk)
    consumers = JournalWriter(files.journal("consumers-0"), _start("consumers-0"))
    copies = {"a|1|x": (40, 8), "a|2|x": (10, 4), "a|3|x": (5, 2)}
    for entity, (times, _) in copies.items():
        for client in range(times):
            at = MEASURING_FROM + client
            consumers.write(Sample("consumer", client, 0, "measuring", "answered", 102, 1, at, at, at + 9, entity, 0))
    consumers.close()
    for index in range(8):
        broker = JournalWriter(files.journal(f"broker-{index}"), _start(f"broker-{index}"))
        here = [entity for entity, (_, many) in copies.items() if index < many]
        broker.write(Holdings(f"broker-{index}", 10**12, here if index == 0 else [], [] if index == 0 else here, 0))
        broker.close()
    run.summary, problem = collection._summarised(run.pk)
    assert problem == ""
    run.save()


def test_a_run_s_copies_stand_beside_how_often_each_entity_was_asked_for(olga: Client, house: House) -> None:
    run = house.runs["done"]
    with_copies(run)
    answer = olga.get(f"/api/runs/{run.id}/holdings/").json()
    rows = {row["entity"]: row for row in answer["results"]}
    assert (answer["count"], answer["entities"]) == (len(rows), 3)
    assert [(rows[f"a|{i}|x"]["holders"], rows[f"a|{i}|x"]["replicas"]) for i in (1, 2, 3)] == [(1, 7), (1, 3), (1, 1)]
    assert rows["a|1|x"]["per_s"] == 4 * rows["a|2|x"]["per_s"]
    assert 0.5 < answer["exponent"] < 0.75
    assert (answer["square_root"], answer["copies"], answer["left_out"]) == (0.5, 14, 0)
    page = olga.get(f"/runs/{run.id}/").content.decode()
    assert "14 copies at" in page
    assert "fit over 3 entities" in page
    drawn = json.loads(page.partition('<script id="copies-data" type="application/json">')[2].partition("</script>")[0])
    assert (drawn["entities"], drawn["copies"]) == (["a|3|x", "a|2|x", "a|1|x"], [2, 4, 8])
    slope = log(drawn["square_root"][2] / drawn["square_root"][0]) / log(drawn["per_s"][2] / drawn["per_s"][0])
    assert slope == pytest.approx(0.5)
    assert drawn["fitted"][2] / drawn["fitted"][0] == pytest.approx(8 ** answer["exponent"], rel=1e-3)


def test_holdings_come_page_by_page(olga: Client, house: House) -> None:
    run = house.runs["done"]
    with_copies(run)
    first = olga.get(f"/api/runs/{run.id}/holdings/?page_size=1").json()
    assert (len(first["results"]), first["previous"]) == (1, None)
    assert olga.get(first["next"]).json()["results"] != first["results"]
    assert olga.get(f"/api/runs/{run.id}/holdings/?page_size=0").json()["field"] == "page_size"


def test_a_run_that_was_not_collected_has_none(olga: Client, house: House) -> None:
    run = house.runs["queued"]
    assert olga.get(f"/api/runs/{run.id}/holdings/").status_code == 404
    assert "Copies" not in olga.get(f"/runs/{run.id}/").content.decode()
