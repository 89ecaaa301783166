"""The form of a simulated experiment: engine, service times and faults, from its fields to its runs and back."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from brokerweb.experiments.models import Experiment
from brokerweb.topologies import services as topologies

pytestmark = pytest.mark.django_db


@pytest.fixture
def ring(db: None) -> str:
    return topologies.create(name="ring", kind="ring", brokers=6).id


def filled(ring: str, *faults: tuple[str, str, str, str, str], **changes: Any) -> dict[str, Any]:
    names = ("what", "where", "amount", "at_s", "until_s")
    columns = {f"fault-{name}": [fault[place] for fault in faults] for place, name in enumerate(names)}
    body = {"name": "faulty", "topology": ring, "replicates": "2", "seed": "1", "engine": "simulated", "do": "save"}
    return {**body, "workload-duration_s": "30", "simulation-service_times": "none", **columns, **changes}


EVERY_KIND = (
    ("kill", "1, 3-4", "", "5", "20"),
    ("restart", "2", "", "6", ""),
    ("partition", "0-2 | 3, 4, 5", "", "7.5", ""),
    ("slow", "0-1, 1-2", "200", "8", "9"),
    ("lossy", "all", "0.2", "10", "12"),
)


def test_faults_are_read_from_their_rows_and_shown_again(olga: Client, ring: str) -> None:
    assert olga.post("/experiments/new/", filled(ring, *EVERY_KIND)).status_code == 302
    experiment = Experiment.objects.get()
    assert experiment.definition["simulation"] == {"service_times": "none"}
    assert experiment.definition["faults"] == [
        {"what": "kill", "brokers": [1, 3, 4], "at_s": 5, "until_s": 20},
        {"what": "restart", "brokers": [2], "at_s": 6},
        {"what": "partition", "islands": [[0, 1, 2], [3, 4, 5]], "at_s": 7.5},
        {"what": "slow", "links": [[0, 1], [1, 2]], "delay_ms": 200, "at_s": 8, "until_s": 9},
        {"what": "lossy", "links": "all", "loss": 0.2, "at_s": 10, "until_s": 12},
    ]
    page = olga.get(f"/experiments/new/?from={experiment.id}").content.decode()
    assert 'value="0, 1, 2 | 3, 4, 5"' in page
    assert 'value="0-1, 1-2"' in page
    assert page.count('name="fault-what"') == 6, "five rows and the one that is copied"
    again = olga.get(f"/experiments/{experiment.id}/").content.decode()
    assert 'class="simulated"' in again


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (("kill", "9", "", "5", ""), "must be a list of brokers from 0 to 5"),
        (("kill", "", "", "5", ""), "is required"),
        (("kill", "one", "", "5", ""), "such as “3, 5-8”"),
        (("kill", "1", "", "99", ""), "must be from 0 to 30"),
        (("kill", "1", "", "5", "4"), "must be after"),
        (("partition", "0-5", "", "5", ""), "two or more lists"),
        (("slow", "0-3", "5", "5", ""), "are not linked"),
        (("lossy", "all", "much", "5", ""), "must be a number"),
        (("explode", "all", "", "5", ""), "must be one of"),
    ],
)
def test_a_wrong_fault_has_its_sentence_beside_it(olga: Client, ring: str, fault: tuple, sentence: str) -> None:
    right = ("restart", "2", "", "6", "")
    answer = olga.post("/experiments/new/", filled(ring, right, fault))
    assert answer.status_code == 400
    rows = answer.content.decode().split('id="fault-rows"')[1].split("<template")[0].split("<li")[1:]
    assert len(rows) == 2
    assert 'role="alert"' not in rows[0]
    assert sentence in rows[1].split('role="alert"')[1]
    assert not Experiment.objects.exists()


def test_a_live_experiment_has_faults_and_nothing_of_a_simulated_one(olga: Client, ring: str) -> None:
    assert olga.post("/experiments/new/", filled(ring, EVERY_KIND[0], engine="live")).status_code == 302
    definition = Experiment.objects.get().definition
    assert (definition["engine"], definition["simulation"]) == ("live", {})
    assert [fault["what"] for fault in definition["faults"]] == ["kill"]


def test_the_form_says_what_a_launch_rests_on(olga: Client, ring: str) -> None:
    bar = olga.post("/experiments/estimate/", filled(ring)).content.decode()
    assert "Launch 2 runs" in bar
    assert "Rough estimate (no simulation has run on this host yet)" in bar
    assert "Estimated from" not in olga.post("/experiments/estimate/", filled(ring, engine="live")).content.decode()
