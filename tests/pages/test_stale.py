"""Concurrent changes: the second user gets a message, sees the stored values next to their input, and loses neither."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from brokerweb.experiments import labels
from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Experiment, Run
from brokerweb.kit import etags
from brokerweb.notices import services as notices
from brokerweb.notices.models import Target
from brokerweb.reports import schedules
from brokerweb.reports.models import Schedule
from brokerweb.retention import services as storage
from brokerweb.topologies import services as topologies

TOLD = "Nothing was saved: the stored values changed after you opened this form."


@pytest.fixture
def nightly(operator: User) -> Experiment:
    ring = topologies.create(name="ring", kind="ring", brokers=4)
    return experiments.create({"name": "Nightly ring", "topology": ring.pk}, operator)


@pytest.fixture
def run(nightly: Experiment) -> Run:
    return experiments.launch(nightly).runs[0]


def opened(client: Client, address: str) -> str:
    """The mark of what a form shows."""
    answer = client.get(address)
    assert answer.status_code == 200
    assert f'name="seen" value="{answer.context["seen"]}"' in answer.content.decode()
    return answer.context["seen"]


def test_a_schedule(olga: Client, nightly: Experiment) -> None:
    schedule = schedules.create(name="nightly", experiments=[nightly], crontab="0 3 * * *")
    address = f"/schedules/{schedule.pk}/edit/"
    seen = opened(olga, address)
    schedules.change(schedule, name="weekly", crontab="0 6 * * 1")
    typed = {"name": "mine", "experiments": nightly.pk, "by": "crontab", "crontab": "0 4 * * *", "seen": seen}
    refused = olga.post(address, typed)
    assert refused.status_code == 409
    page = refused.content.decode()
    assert TOLD in page
    assert "Stored value: <strong>weekly</strong>" in page
    assert "Stored value: <strong>Mondays at 06:00, UTC</strong>" in page
    assert page.count("Stored value") == 2
    assert 'value="mine"' in page
    assert 'value="0 4 * * *"' in page
    assert Schedule.objects.get().name == "weekly"

    wrong = olga.post(address, {**typed, "by": "every", "every_min": "soon"})
    assert (wrong.status_code, wrong.context["seen"]) == (400, seen)
    assert olga.post(address, {**typed, "seen": refused.context["seen"]}).status_code == 302
    assert Schedule.objects.get().name == "mine"


def test_a_schedule_that_was_only_paused_is_no_other(olga: Client, nightly: Experiment) -> None:
    schedule = schedules.create(name="nightly", experiments=[nightly], crontab="0 3 * * *")
    address = f"/schedules/{schedule.pk}/edit/"
    typed = {"name": "mine", "experiments": nightly.pk, "by": "crontab", "crontab": "0 3 * * *"}
    seen = opened(olga, address)
    schedules.change(schedule, enabled=False)
    assert olga.post(address, {**typed, "seen": seen}).status_code == 302
    assert not Schedule.objects.get().periodic_task.enabled


def test_a_target_of_notifications(olga: Client, operator: User) -> None:
    body: dict[str, Any] = {"name": "ops", "channel": "webhook", "address": "http://127.0.0.1:9/a"}
    target = notices.create(**body, kinds=["run_failed"], secret="hush")
    address = f"/notifications/{target.pk}/"
    seen = opened(olga, address)
    notices.change(target, {"address": "http://127.0.0.1:9/b", "kinds": ["report_done"]})
    typed = {**body, "name": "on call", "kinds": ["run_failed"], "secret": "", "seen": seen}
    refused = olga.post(address, typed)
    assert refused.status_code == 409
    page = refused.content.decode()
    assert TOLD in page
    assert "Stored value: <strong>http://127.0.0.1:9/b</strong>" in page
    assert "Stored value: <strong>A report is done</strong>" in page
    assert 'value="on call"' in page
    assert "hush" not in page
    assert Target.objects.get().address == "http://127.0.0.1:9/b"
    assert olga.post(address, {**typed, "seen": refused.context["seen"]}).status_code == 302
    assert Target.objects.get().address == "http://127.0.0.1:9/a"


def test_what_is_kept_how_long(olga: Client, operator: User) -> None:
    seen = opened(olga, "/storage/")
    storage.change({"max_days": 30, "include_reports": True})
    typed = {"max_days": "90", "max_gb": "", "least_free_gb": "0.5", "include_simulated": "on", "seen": seen}
    refused = olga.post("/storage/change/", typed)
    assert refused.status_code == 409
    page = refused.content.decode()
    assert TOLD in page
    assert "Stored value: <strong>30</strong>" in page
    assert "Stored value: <strong>ticked</strong>" in page
    assert page.count("Stored value") == 2
    assert 'value="90"' in page
    assert storage.policy().max_days == 30
    olga.post("/storage/change/", {**typed, "seen": refused.context["seen"]})
    assert storage.policy().max_days == 90


def test_tags_and_note_of_a_run(olga: Client, run: Run) -> None:
    address = f"/runs/{run.pk}/labels/"
    seen = opened(olga, address)
    labels.set_labels(run, "paper", "the room was warm")
    typed = {"tags": "nightly", "note": "kept", "seen": seen}
    refused = olga.post(address, typed)
    assert refused.status_code == 409
    part = olga.post(address, typed, headers={"HX-Request": "true"}).content.decode()
    for page in (refused.content.decode(), part):
        assert "Nothing was saved: tags or note changed after you opened this form." in page
        assert "Stored value: <strong>paper</strong>" in page
        assert "Stored value: <strong>the room was warm</strong>" in page
        assert 'value="nightly"' in page
    labels.set_kept(run, True)
    assert [tag.name for tag in run.tags.all()] == ["paper"]
    olga.post(address, {**typed, "seen": refused.context["seen"]})
    assert [tag.name for tag in run.tags.all()] == ["nightly"]


def test_rest_refuses_what_was_read_before_somebody_changed_it(
    olga: Client, nightly: Experiment, run: Run, operator: User
) -> None:
    schedule = schedules.create(name="nightly", experiments=[nightly], crontab="0 3 * * *")
    target = notices.create(name="ops", channel="email", address="a@example.org", kinds=["run_failed"])
    for address, first, second in (
        (f"/api/schedules/{schedule.pk}/", {"name": "one"}, {"name": "two"}),
        (f"/api/notifications/{target.pk}/", {"name": "one"}, {"name": "two"}),
        (f"/api/runs/{run.pk}/", {"note": "one"}, {"note": "two"}),
        ("/api/storage/", {"max_days": 1}, {"max_days": 2}),
    ):
        sent: dict[str, Any] = {"content_type": "application/json"}
        read = olga.get(address).json()
        mark = (read.get("policy") or read)["mark"]
        if_match = {"If-Match": f'"{mark}"'}
        assert olga.patch(address, first, headers=if_match, **sent).status_code == 200, address
        late = olga.patch(address, second, headers=if_match, **sent)
        assert (late.status_code, late.json()["sentence"][:17]) == (412, "The stored values"), address
        assert olga.patch(address, second, headers={"If-Match": "*"}, **sent).status_code == 200, address
        assert olga.patch(address, first, **sent).status_code == 200, address


VALUES = st.dictionaries(
    st.text(max_size=5), st.none() | st.integers() | st.text(max_size=9) | st.booleans(), max_size=4
)


@given(VALUES, VALUES)
def test_other_values_have_another_mark_and_the_same_the_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert etags.mark(one) == etags.mark(dict(reversed(one.items())))
    as_text = [sorted((name, repr(value)) for name, value in values.items()) for values in (one, other)]
    assert (etags.mark(one) == etags.mark(other)) == (as_text[0] == as_text[1])
