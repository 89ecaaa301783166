"""What is sent again with its idempotency key is answered as before, and done once."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connections
from django.utils import timezone
from rest_framework.test import APIClient

from brokerweb.accounts.models import Token
from brokerweb.accounts.services import make_token
from brokerweb.api import idempotency
from brokerweb.api.models import KeptAnswer
from brokerweb.experiments.models import Run, RunState
from brokerweb.topologies import services as topologies
from brokerweb.topologies.models import Topology
from tests.at_once import at_once
from tests.waiting import BOUND_S

pytestmark = pytest.mark.django_db

RING = {"name": "campus", "kind": "ring", "brokers": 4}


def bearer(user: User, scope: str = "write") -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {make_token(user, scope=scope)[1]}")
    return client


def send(client: APIClient, key: str, body: Any = RING, path: str = "/api/topologies/") -> Any:
    return client.post(path, body, format="json", headers={"Idempotency-Key": key})


def test_a_request_sent_again_gets_the_same_answer_and_does_nothing(operator: User) -> None:
    client = bearer(operator)
    first, again, quoted = send(client, "k-1"), send(client, "k-1"), send(bearer(operator), '"k-1"')
    assert (first.status_code, "Idempotent-Replayed" in first) == (201, False)
    for later in (again, quoted):  # in quotes, as the draft writes it, and with another token of the account
        assert (later.status_code, later["Idempotent-Replayed"]) == (201, "true")
        assert (later.content, later["Content-Type"]) == (first.content, first["Content-Type"])
    assert Topology.objects.count() == 1

    other = send(client, "k-1", {**RING, "brokers": 5})
    assert (other.status_code, other.json()["code"], other.json()["field"]) == (422, "key_reused", "Idempotency-Key")
    assert send(client, "k-1", path="/api/topologies/import/").status_code == 422
    assert Topology.objects.count() == 1


def test_launches_and_reruns_are_done_once(operator: User) -> None:
    client = bearer(operator)
    ring = topologies.create(name="ring", kind="ring", brokers=4)
    made = send(client, "1", {"name": "e", "topology": ring.pk, "replicates": 3}, "/api/experiments/").json()
    launched = [send(client, "2", {}, f"/api/experiments/{made['id']}/launch/").json()["runs"] for _ in range(2)]
    assert launched[0] == launched[1]
    again = [send(client, "3", None, f"/api/runs/{launched[0][0]}/rerun/").json()["id"] for _ in range(2)]
    assert again[0] == again[1]
    Run.objects.update(state=RunState.DONE)
    bulk = {"action": "rerun", "runs": launched[0]}
    assert [send(client, "4", bulk, "/api/runs/bulk/").json()["changed"] for _ in range(2)] == [3, 3]
    assert Run.objects.count() == 3 + 1 + 3


def test_what_is_refused_leaves_its_key_free(operator: User, viewer: User) -> None:
    client = bearer(operator)
    assert send(client, "k", {**RING, "brokers": 0}).status_code == 400
    assert send(client, "k").status_code == 201
    assert send(bearer(viewer), "k").status_code == 403
    assert send(bearer(operator, "read"), "other").status_code == 403
    assert send(APIClient(), "k").status_code == 401
    assert [kept.owner for kept in KeptAnswer.objects.all()] == [operator]
    for wrong in ("", "x" * 256, "schlüssel"):
        refused = send(client, wrong)
        assert (refused.status_code, refused.json()["field"]) == (400, "Idempotency-Key")


def test_keys_belong_to_an_account(operator: User) -> None:
    other = User.objects.create_superuser("otto", password="correct horse")
    assert send(bearer(operator), "k").status_code == 201
    theirs = send(bearer(other), "k", {**RING, "name": "theirs"})
    assert (theirs.status_code, "Idempotent-Replayed" in theirs) == (201, False)


def test_a_token_with_narrower_limits_does_not_get_the_answer_of_a_wider_one(operator: User) -> None:
    assert send(bearer(operator), "k").status_code == 201
    narrow = APIClient()
    token, text = make_token(operator)
    Token.objects.filter(pk=token.pk).update(networks=["campus"])
    narrow.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    refused = send(narrow, "k")
    assert (refused.status_code, refused.json()["code"]) == (422, "key_reused")


def test_nothing_is_done_if_the_answer_cannot_be_stored(operator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    client = bearer(operator)
    client.raise_request_exception = False

    def full(*_: Any) -> None:
        raise OperationalError("disk I/O error")

    with monkeypatch.context() as broken:
        broken.setattr(idempotency, "_keep", full)
        assert send(client, "k").status_code == 500
    assert (Topology.objects.count(), KeptAnswer.objects.count()) == (0, 0)
    assert send(client, "k").status_code == 201


def test_keys_are_forgotten_after_a_day_and_beyond_their_number(
    operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = bearer(operator)
    send(client, "old")
    KeptAnswer.objects.update(begun=timezone.now() - timedelta(hours=24, seconds=1))
    assert send(client, "old", {**RING, "name": "b"}).status_code == 201  # another body: the key is free
    monkeypatch.setattr(idempotency, "MOST_KEPT", 2)
    for name in "cd":
        assert send(client, name, {**RING, "name": name}).status_code == 201
    assert [*KeptAnswer.objects.order_by("pk").values_list("key", flat=True)] == ["c", "d"]
    monkeypatch.setattr(idempotency, "MOST_KEPT_BYTES", 1)
    assert send(client, "e", {**RING, "name": "e"}).status_code == 201
    assert send(client, "e", {**RING, "name": "e"})["Idempotent-Replayed"] == "true"  # the newest is kept anyway
    assert KeptAnswer.objects.count() == 1


def test_a_request_whose_process_died_is_taken_over(operator: User) -> None:
    client = bearer(operator)
    send(client, "k")
    Topology.objects.all().delete()  # rolled back with its process
    KeptAnswer.objects.update(status=0)
    waits = send(client, "k")
    assert (waits.status_code, waits.json()["code"], waits["Retry-After"]) == (409, "in_progress", "1")
    KeptAnswer.objects.update(begun=timezone.now() - idempotency.ABANDONED_AFTER)
    taken_over = send(client, "k")
    assert (taken_over.status_code, "Idempotent-Replayed" in taken_over) == (201, False)
    assert send(client, "k").content == taken_over.content


def test_a_request_that_was_taken_over_while_it_ran_changes_nothing(
    operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = idempotency._keep

    def late(mine: Any, response: Any) -> None:
        KeptAnswer.objects.update(claim="another")
        keep(mine, response)

    monkeypatch.setattr(idempotency, "_keep", late)
    assert send(bearer(operator), "k").status_code == 409
    assert Topology.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_while_one_is_carried_out_others_are_told_to_wait(operator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    at_it, may_end, keep = threading.Event(), threading.Event(), idempotency._keep

    def slow(mine: Any, response: Any) -> None:
        at_it.set()
        assert may_end.wait(BOUND_S)
        keep(mine, response)

    monkeypatch.setattr(idempotency, "_keep", slow)
    client, other, got = bearer(operator), bearer(operator), []

    def first() -> None:
        try:
            got.append(send(client, "k").status_code)
        finally:
            connections.close_all()

    thread = threading.Thread(target=first)
    thread.start()
    try:
        assert at_it.wait(BOUND_S)
        told = [send(other, "k", body) for body in (RING, {**RING, "brokers": 5})]  # at once, while the first writes
    finally:
        may_end.set()
        thread.join(BOUND_S)
    assert [one.status_code for one in told] == [409, 422]
    assert (got, send(other, "k")["Idempotent-Replayed"]) == ([201], "true")


@pytest.mark.django_db(transaction=True)
def test_of_those_that_come_at_once_one_is_carried_out(operator: User) -> None:
    clients = [bearer(operator) for _ in range(4)]
    answers = at_once(lambda: send(clients.pop(), "k"), 4)
    assert {answer.status_code for answer in answers} <= {201, 409}
    made = [answer for answer in answers if answer.status_code == 201]
    assert sum("Idempotent-Replayed" not in answer for answer in made) == 1
    assert Topology.objects.count() == 1
