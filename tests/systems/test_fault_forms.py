"""Faults of any server, and of a system's own, in the form, in YAML and in REST."""

from __future__ import annotations

import pytest
from django.test import Client

from brokerweb.builder import fault_forms
from brokerweb.experiments.models import Experiment
from overlay.systems.registry import SYSTEMS
from tests.systems.echo_directory import SYSTEM

pytestmark = pytest.mark.django_db(transaction=True)

ROWS = (
    ("kill", "1, directory-0", "", "1", "2", ""),
    ("partition", "0, directory-0 | 1", "", "1", "", ""),
    ("slow", "echo-0 - directory-0", "80", "1", "", ""),
    ("lossy", "directory-0>echo-1", "0.5", "1", "", ""),
    ("deaf", "0, directory-0", "", "1", "2", "3"),
    ("deaf", "echo-1", "", "1", "", ""),
    ("moved", "caller-0, caller-2", "", "1", "2", ""),
    ("silent", "0.5", "", "1", "", ""),
)
DOCUMENTS = [
    {"what": "kill", "brokers": [1], "servers": ["directory-0"], "at_s": 1.0, "until_s": 2.0},
    {"what": "partition", "islands": [[0, "directory-0"], [1]], "at_s": 1.0},
    {"what": "slow", "links": [["echo-0", "directory-0"]], "delay_ms": 80.0, "at_s": 1.0},
    {"what": "lossy", "links": [["directory-0", "echo-1"]], "one_way": True, "loss": 0.5, "at_s": 1.0},
    {"what": "deaf", "brokers": [0], "servers": ["directory-0"], "every": 3, "at_s": 1.0, "until_s": 2.0},
    {"what": "deaf", "servers": ["echo-1"], "at_s": 1.0},
    {"what": "moved", "clients": ["caller-0", "caller-2"], "at_s": 1.0},
    {"what": "silent", "clients": 0.5, "at_s": 1.0},
]


@pytest.fixture(autouse=True)
def known(monkeypatch, echo):
    monkeypatch.delitem(SYSTEMS, echo.name)  # its study would be there twice
    monkeypatch.setitem(SYSTEMS, SYSTEM.name, SYSTEM)


@pytest.fixture
def looking(operator):
    browser = Client()
    browser.force_login(operator)
    return browser


def filled(topology: str, *rows: tuple[str, ...]) -> dict[str, object]:
    columns = ("fault-what", "fault-where", "fault-amount", "fault-at_s", "fault-until_s", "fault-deaf-every")
    return {
        "name": "faulty",
        "system": SYSTEM.name,
        "topology": topology,
        "engine": "simulated",
        "replicates": "1",
        "seed": "1",
        "record_mb": "0",
        "workload-duration_s": "4",
        "workload-callers": "4",
        **{name: list(texts) for name, texts in zip(columns, zip(*rows, strict=True), strict=True)},
        "do": "save",
    }


def test_the_form_takes_names_and_the_fields_of_a_system_and_shows_them_again(looking, ring):
    answer = looking.post("/experiments/new/", filled(ring["id"], *ROWS))
    assert answer.status_code == 302
    experiment = Experiment.objects.get()
    assert experiment.definition["faults"] == DOCUMENTS
    page = looking.get(f"/experiments/new/?from={experiment.pk}").content.decode()
    for text in (
        'value="1, directory-0"',
        'value="0, directory-0 | 1"',
        'value="echo-0 - directory-0"',
        'value="directory-0 &gt; echo-1"',
        'value="caller-0, caller-2"',
        '<option value="deaf" data-example="servers: 3, 5-8, or names" data-amount-label="" data-own selected>Deaf',
        'name="fault-deaf-every" value="3"',
    ):
        assert text in page
    assert fault_forms.shown(DOCUMENTS, SYSTEM.faults).documents() == DOCUMENTS


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (
            ("kill", "gateway-0", "", "1", "", ""),
            "has no &#x27;gateway-0&#x27;; known are echo-0 to echo-3, directory-0",
        ),
        (("deaf", "echo-0", "", "1", "", "10"), "Every must be at most 9"),
        (("deaf", "echo-0", "", "1", "", "often"), "Every must be a number"),
        (("silent", "caller-9", "", "1", "", ""), "known are caller-0 to caller-3"),
        (("silent", "echo-0", "", "1", "", ""), "Servers is unknown"),
    ],
)
def test_what_is_wrong_stands_beside_it(looking, ring, row, sentence):
    answer = looking.post("/experiments/new/", filled(ring["id"], row))
    assert answer.status_code == 400
    assert sentence in answer.content.decode()
    assert not Experiment.objects.exists()


def test_rest_takes_the_documents_and_names_the_field_that_is_wrong(api, ring):
    body = {"name": "faulty", "system": SYSTEM.name, "topology": ring["id"], "engine": "simulated", "faults": DOCUMENTS}
    body["workload"] = {"callers": 4, "duration_s": 4}
    made = api.post("/api/experiments/", body, format="json")
    assert made.status_code == 201, made.content
    assert made.json()["faults"] == DOCUMENTS
    wrong = api.post("/api/experiments/", {**body, "faults": [{**DOCUMENTS[4], "every": 0}]}, format="json")
    assert (wrong.status_code, wrong.json()["field"]) == (400, "faults.0.every")


def test_rest_lists_the_faults_of_a_system(api):
    faults = {one["name"]: one for one in api.get(f"/api/systems/{SYSTEM.name}/").json()["faults"]}
    assert list(faults) == ["deaf", "rebound", "silent", "moved"]
    deaf, moved = faults["deaf"], faults["moved"]
    assert (deaf["servers"], deaf["clients"], deaf["lasts"]) == (["echo", "directory"], [], True)
    assert [(one["name"], one["default"], one["high"]) for one in deaf["settings"]] == [("every", 1, 9)]
    assert (moved["title"], moved["clients"], moved["lasts"]) == ("Moved to another port", ["caller"], False)
    assert api.get("/api/systems/context-broker/").json()["faults"] == []
