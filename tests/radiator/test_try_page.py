"""The page that tries an aggregability: scenarios of the paper, samples of one's own, errors at their field."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client

from overlay.systems.radiator.language.scenarios import SCENARIOS

pytestmark = pytest.mark.django_db
URL = "/radiator/try/"
SENT = {
    "aggregability": "{volume: 2}",
    "messages": '{"at_s": 0, "from": "Bob"}\n\n{"at_s": 1.5, "from": "Bob", "people": ["Eve"]}',
    "recipients": '{"id": "Bob"}\n{"id": "Eve", "floor": 2}',
}


@pytest.fixture
def looking(django_user_model):
    browser = Client()
    browser.force_login(django_user_model.objects.create_user("olga"))
    return browser


def cells(answer):
    rows = re.findall(r"<tr data-row>(.*?)</tr>", answer.content.decode(), re.DOTALL)
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_scenario_is_shown_with_sample_messages(looking, name):
    answer = looking.get(f"{URL}?scenario={name}")
    assert answer.status_code == 200
    assert len(cells(answer)) == 4 * 2, "four messages to the two others"
    assert f'href="?scenario={name}"' in answer.content.decode()


def test_what_is_sent_is_tried(looking):
    assert cells(looking.post(URL, SENT)) == [
        ["1", "Eve", "volume: 2", "1.5 s", "1, 2"],
        ["2", "Eve", "volume: 2", "1.5 s", "1, 2"],
    ]
    assert len(cells(looking.post(URL, {**SENT, "echo": "on"}))) == 4
    waiting = cells(looking.post(URL, {**SENT, "aggregability": "{volume: 3}"}))
    assert waiting[0] == ["1", "Eve", "volume: 3", "not yet", "–"]


def test_rest_tries_the_same(looking):
    def objects(name):
        return [json.loads(line) for line in SENT[name].splitlines() if line]

    sent = {**SENT, "messages": objects("messages"), "recipients": objects("recipients")}

    def tried(**changes):
        return looking.post("/api/systems/radiator/try/", {**sent, **changes}, content_type="application/json")

    rows = tried().json()["rows"]
    place = {"recipient": "Eve", "dimension": "volume", "limit": 2.0, "left_s": 1.5, "together": [1, 2]}
    assert rows == [{"message": 1, **place}, {"message": 2, **place}]
    assert len(tried(echo=True).json()["rows"]) == 4
    for changes, field in (
        ({"aggregability": "{volume: s.}"}, "aggregability"),
        ({"messages": []}, "messages"),
        ({"messages": [{"at_s": 0}]}, "messages"),
        ({"recipients": [{"id": 7}]}, "recipients"),
        ({"recipients": 5}, "recipients"),
        ({"messages": ["x"]}, "messages.0"),
        ({"echo": "yes"}, "echo"),
        ({"scenario": 3}, "scenario"),
    ):
        answer = tried(**changes)
        assert (answer.status_code, answer.json()["field"]) == (400, field)


@pytest.mark.parametrize(
    ("changes", "field", "sentence"),
    [
        ({"aggregability": "{volume: s.}"}, "aggregability", "ine 1, column"),
        ({"messages": ""}, "messages", "ne is needed"),
        ({"messages": "{"}, "messages", "ine 1 is no JSON"),
        ({"messages": "[]"}, "messages", "ine 1 must be an object"),
        ({"messages": '{"from": "Bob"}'}, "messages", "ine 1 needs “at_s”"),
        ({"messages": '{"at_s": 0}'}, "messages", "ine 1 needs “from”"),
        ({"messages": '{"at_s": 0, "from": "Zoe"}'}, "messages", "is none of the recipients"),
        ({"messages": '{"at_s": 0, "from": "Bob", "people": []}'}, "messages", "ine 1:"),
        ({"recipients": '{"floor": 2}'}, "recipients", "ine 1 needs an “id”"),
        ({"recipients": "\n".join([json.dumps({"id": "Bob"})] * 21)}, "recipients", "t most 20 lines"),
    ],
)
def test_errors_are_at_their_field(looking, changes, field, sentence):
    answer = looking.post(URL, {**SENT, **changes})
    assert answer.status_code == 400
    page = answer.content.decode()
    assert f'id="{field}-wrong"' in page
    assert sentence in page
    assert page.count('role="alert"') == 1


def test_it_is_found_by_its_name_and_needs_a_login(looking):
    assert "radiator/try" in looking.get("/search/?q=aggregability").content.decode()
    assert Client().get(URL).status_code == 302
