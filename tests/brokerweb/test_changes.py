"""The change log: what was changed, by whom, from where, in the same transaction; and request ids."""

from __future__ import annotations

import csv
import io
import logging
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from brokerweb.accounts.models import Token
from brokerweb.changelog.difference import MOST_LETTERS, difference
from brokerweb.changelog.models import Change
from brokerweb.changelog.services import thin
from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Run
from brokerweb.logs import OneLine
from brokerweb.notices.models import Target
from brokerweb.retention import removal
from brokerweb.runlist import bulk
from brokerweb.topologies import services as topologies
from brokerweb.topologies.models import Topology
from tests.brokerweb.test_access import bearer, token_of

pytestmark = pytest.mark.django_db
RING = {"name": "ring", "kind": "ring", "brokers": 3}


def log(**filters: Any) -> list[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Kind, action, before and after, oldest first."""
    rows = Change.objects.filter(**filters).order_by("id")
    return [(row.kind, row.action, row.before, row.after) for row in rows]


def actions(**filters: Any) -> list[tuple[str, str]]:
    return [row[:2] for row in log(**filters)]


def test_a_change_says_who_when_what_before_after_and_from_where(operator: User) -> None:
    client = bearer(token_of(operator, "correct horse"))
    before = timezone.now()
    made = client.post("/api/topologies/", RING, format="json", headers={"X-Request-Id": "job-7"})
    assert made["X-Request-Id"] == "job-7"
    topology = made.json()["id"]
    client.patch(f"/api/topologies/{topology}/", {"name": "loop"}, format="json")
    client.patch(f"/api/topologies/{topology}/", {"name": "loop"}, format="json")
    assert client.delete(f"/api/topologies/{topology}/").status_code == 204
    created, changed, deleted = client.get("/api/changes/?kind=topology").json()["results"][::-1]
    assert (created["action"], created["before"], created["after"]["brokers"]) == ("create", {}, 3)
    assert (created["who"], created["source"], created["request_id"]) == ("olga", "REST", "job-7")
    assert created["token"] == Token.objects.get().token_key
    assert (created["kind"], created["object"], created["name"]) == ("topology", topology, "ring")
    assert before <= Change.objects.get(pk=created["id"]).at <= timezone.now()
    assert (changed["action"], changed["before"], changed["after"]) == ("change", {"name": "ring"}, {"name": "loop"})
    assert (deleted["action"], deleted["before"]["name"], deleted["after"]) == ("delete", "loop", {})
    assert client.get(f"/api/changes/{created['id']}/").json() == created


def test_what_is_rolled_back_or_refused_is_not_logged(operator: User) -> None:
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        topologies.create(**RING, owner=operator)
        _ = 1 / 0
    client = APIClient()
    client.force_login(operator)
    assert client.post("/api/topologies/", {**RING, "brokers": 0}, format="json").status_code == 400
    assert (Topology.objects.count(), actions()) == (0, [])


def test_networks_and_the_queue(operator: User) -> None:
    browser = Client()
    browser.force_login(operator)
    ring = topologies.create(**RING, owner=operator)
    sent = {"name": "campus", "topology": ring.pk, "system": "context-broker"}
    network = browser.post("/networks/new/", sent)["Location"].split("/")[-2]
    for step in ("stop", "stop", "start", "stop", "delete"):
        browser.post(f"/networks/{network}/{step}/")
    for step in ("pause", "pause", "resume"):
        browser.post(f"/queue/{step}/")
    assert actions(source="page") == [
        *(("network", action) for action in ("deploy", "stop", "start", "stop", "delete")),
        *(("queue", action) for action in ("pause", "resume")),
    ]
    stopped = Change.objects.filter(action="stop").last()
    assert (stopped.before, stopped.after) == ({"desired": "running"}, {"desired": "stopped"})
    assert actions(kind="topology", source="command", who="olga") == [("topology", "create")], "with its owner"


def test_experiments_and_runs(operator: User) -> None:
    client = APIClient()
    client.force_login(operator)
    ring = topologies.create(**RING, owner=operator)
    body = {"name": "e", "topology": ring.pk, "workload": {"providers": 1, "consumers": 1}, "replicates": 3}
    made = client.post("/api/experiments/", body, format="json").json()["id"]
    first, second, _ = client.post(f"/api/experiments/{made}/launch/").json()["runs"]
    client.post(f"/api/runs/{first}/cancel/")
    client.patch(f"/api/runs/{second}/", {"note": "odd"}, format="json")
    experiments.cancel_each([second])
    client.post(f"/api/runs/{first}/rerun/")
    for action in (
        bulk.TAG,
        bulk.TAG,
        bulk.KEEP,
        bulk.KEEP,
        bulk.UNKEEP,
        bulk.UNTAG,
    ):
        bulk.carry_out(bulk.plan(action, Run.objects.filter(pk=second), "odd"), operator)
    bulk.carry_out(bulk.plan(bulk.DELETE, Run.objects.filter(pk=second)), operator)
    client.patch(f"/api/experiments/{made}/", {"thresholds": ["p95 < 1s"]}, format="json")
    experiments.cancel_each(list(Run.objects.values_list("pk", flat=True)))
    assert client.delete(f"/api/experiments/{made}/").status_code == 204
    of_experiment = ["create", "launch", "set thresholds", "delete"]
    assert [action for _, action in actions(object_id=made)] == of_experiment
    assert [after for _, action, _, after in log(object_id=made) if action == "launch"] == [{"runs": 3}]
    assert log(object_id=first)[0][1:] == ("cancel", {"state": "queued"}, {"state": "cancelled"})
    assert [action for _, action in actions(object_id=first)] == ["cancel", "rerun"]
    assert [action for _, action in actions(object_id=second)] == ["change", "cancel", *["change"] * 4, "delete"]
    told = [(before, after) for _, _, before, after in log(object_id=second)[2:6]]
    assert told == [
        ({}, {"added tag": "odd"}),
        ({"kept": False}, {"kept": True}),
        ({"kept": True}, {"kept": False}),
        ({"removed tag": "odd"}, {}),
    ]


def test_secrets_are_never_in_it(operator: User, viewer: User) -> None:
    boss = APIClient()
    boss.force_login(operator)
    text = token_of(viewer, "battery staple", name="sensor")
    target = {"name": "hook", "channel": "webhook", "address": "https://hooks.example/x", "kinds": ["run_failed"]}
    made = boss.post("/api/notifications/", {**target, "secret": "s3cr3t"}, format="json").json()["id"]
    boss.patch(f"/api/notifications/{made}/", {"enabled": False}, format="json")
    browser = Client()
    browser.force_login(operator)
    fresh = {"password1": "horse correct", "password2": "horse correct", "usable_password": "true"}
    assert browser.post(f"/admin/auth/user/{viewer.pk}/password/", fresh).status_code == 302
    token, _, changed, revoked, password = log()
    assert (token[:2], token[3]["name"], token[3]["of"]) == (("token", "create"), "sensor", "viktor")
    assert changed == ("notification", "change", {"enabled": True}, {"enabled": False})
    assert revoked[:2] == ("token", "revoke")
    assert password == ("account", "change password", {}, {"tokens_revoked": 1})
    everything = str(list(Change.objects.values()))
    user = User.objects.get(pk=viewer.pk)
    secrets = (text, "s3cr3t", user.password, "horse correct", Target.objects.get().secret)
    assert not [one for one in secrets if one in everything]


def test_accounts_and_rights_in_the_admin_and_by_rest_are_for_administrators_to_see(
    operator: User, viewer: User
) -> None:
    boss, looking = APIClient(), APIClient()
    boss.force_login(operator)
    looking.force_login(viewer)
    boss.patch(f"/api/accounts/{viewer.pk}/", {"role": "operator"}, format="json")
    form = {
        "username": "vera",
        "is_active": "on",
        "role": "operator",
        "date_joined_0": "2026-01-01",
        "date_joined_1": "00:00:00",
        **{f"network_rights-{name}_FORMS": "0" for name in ("TOTAL", "INITIAL")},
    }
    browser = Client()
    browser.force_login(operator)
    browser.post(f"/admin/auth/user/{viewer.pk}/change/", form)
    role, name = log(kind="account")
    assert role == ("account", "set role", {"role": "viewer"}, {"role": "operator"})
    assert (name[2]["username"], name[3]["username"]) == ("viktor", "vera")
    assert list(Change.objects.order_by("id").values_list("source", flat=True)) == ["REST", "admin"]
    assert boss.get("/api/changes/?kind=account").json()["count"] == 2
    assert looking.get("/api/changes/").json()["count"] == 0
    assert "set role" not in looking.get("/changes/").content.decode()


def test_it_is_filtered_paged_exported_and_shown_on_a_page(operator: User, viewer: User) -> None:
    rings = [topologies.create(**{**RING, "name": f"={number}"}, owner=operator) for number in range(3)]
    first = rings[0].pk
    topologies.delete(rings[0])
    client = Client()
    client.force_login(viewer)

    def names(query: str) -> list[str]:
        return [one["name"] for one in client.get(f"/api/changes/?{query}").json()["results"]]

    assert names("action=delete") == ["=0"]
    assert names(f"object_id={first}") == ["=0", "=0"]
    assert names("q=create+olga&page_size=2&page=2") == ["=0"]
    assert names(f"at__lt={(timezone.now() - timedelta(days=1)).isoformat()}".replace("+", "%2B")) == []
    assert client.get("/api/changes/?colour=red").status_code == 400
    assert client.get("/api/changes/export/?format=xml").status_code == 400
    exported = client.get("/api/changes/export/?action=create").content.decode()
    rows = list(csv.DictReader(io.StringIO(exported)))
    assert [row["name"] for row in rows] == ["'=2", "'=1", "'=0"], "no formula"
    assert len(client.get("/api/changes/export/?format=json").json()) == 4
    page = client.get(f"/changes/?kind=topology&object_id={rings[1].pk}").content.decode()
    assert f'href="/topologies/{rings[1].pk}/"' in page
    assert f"object_id={rings[1].pk}&amp;format=csv" in page
    link = f"/changes/?kind=topology&amp;object_id={rings[1].pk}"
    assert link in client.get(f"/topologies/{rings[1].pk}/").content.decode()


def test_it_is_bounded_by_age_and_number(operator: User) -> None:
    for number in range(5):
        topologies.create(**{**RING, "name": str(number)}, owner=operator)
    oldest = Change.objects.last()
    Change.objects.filter(pk=oldest.pk).update(at=timezone.now() - timedelta(days=366))
    removal.turn()
    assert (Change.objects.count(), Change.objects.filter(pk=oldest.pk).exists()) == (4, False)
    assert thin(timezone.now() - timedelta(days=1), 3) == 1
    assert [row.name for row in Change.objects.all()] == ["4", "3", "2"]
    client = APIClient()
    client.force_login(operator)
    for wrong in ({"change_days": 0}, {"most_changes": 999}):
        assert client.patch("/api/storage/", wrong, format="json").status_code == 400
    shown = client.patch("/api/storage/", {"change_days": 30}, format="json").json()["policy"]
    assert (shown["change_days"], shown["most_changes"]) == (30, 100_000)


@pytest.mark.parametrize("given", ["", "a b", "x" * 65, "naïve", "a\tb"])
def test_a_bad_request_id_is_replaced(client: Client, given: str) -> None:
    answer = client.get("/healthz", headers={"X-Request-Id": given})
    assert answer["X-Request-Id"]
    assert answer["X-Request-Id"] != given


def test_the_request_id_is_in_front_of_what_is_logged(operator: User) -> None:
    lines: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    handler = Kept()
    handler.setFormatter(OneLine("{message}", style="{"))
    logger = logging.getLogger("django.request")
    logger.addHandler(handler)
    try:
        Client().get("/api/nowhere/", headers={"X-Request-Id": "job-9"})
    finally:
        logger.removeHandler(handler)
    assert lines == ["[job-9] Not Found: /api/nowhere/"]


def test_only_what_differs_is_kept_and_long_values_are_cut() -> None:
    before = {"a": 1, "s": {"x": 1, "y": 2}, "gone": True}
    after = {"a": 1, "s": {"x": 1, "y": 3}, "new": "é" * (MOST_LETTERS + 1)}
    was, now = difference(before, after)
    assert was == {"s": {"y": 2}, "gone": True}
    assert now == {"s": {"y": 3}, "new": {"begins": "é" * (MOST_LETTERS // 5), "letters": MOST_LETTERS + 1}}
    assert difference(before, before) == ({}, {})
    _, many = difference({}, {str(number): "x" * 900 for number in range(100)})
    assert list(many) == ["cut"]
