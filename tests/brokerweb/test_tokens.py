"""Tokens: limited to networks, with an expiry that their owner chooses, and their last use."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from brokerweb.accounts.models import Guest, NetworkRight, Token
from brokerweb.api.network_changes import OWN_TOPOLOGY
from brokerweb.networks.models import Network
from brokerweb.topologies import services as topologies
from tests.brokerweb.test_access import bearer, token_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def two() -> tuple[str, str]:
    deployed = {"brokers": 1, "links": []}
    rows = [Network.objects.create(name=name, deployed=deployed) for name in ("campus", "town")]
    return rows[0].pk, rows[1].pk


def refused(body: dict[str, Any]) -> tuple[int, str]:
    """The status, and the field that is wrong."""
    answer = bearer("x").post("/api/tokens/", {"username": "olga", "password": "correct horse", **body}, format="json")
    return answer.status_code, answer.json().get("field", "")


def test_a_limited_token_works_for_its_networks_and_for_nothing_else(operator: User, two: tuple[str, str]) -> None:
    campus, town = two
    client = bearer(token_of(operator, "correct horse", networks=[campus]))
    assert [one["id"] for one in client.get("/api/networks/").json()["results"]] == [campus]
    paths = [f"/api/networks/{campus}/", f"/api/networks/{town}/", "/api/runs/", "/api/search/?q=town", "/api/tokens/"]
    assert [client.get(path).status_code for path in paths] == [200, 403, 403, 403, 403]
    assert client.post(f"/api/networks/{campus}/stop/").status_code == 200
    assert client.post(f"/api/networks/{town}/stop/").status_code == 403
    deploy = client.post("/api/networks/", {"name": "third"}, format="json")
    assert (deploy.status_code, "limited to chosen networks" in deploy.json()["sentence"]) == (403, True)
    Network.objects.filter(pk=campus).delete()
    assert client.get("/api/networks/").json()["count"] == 0, "none left is not all"


def test_a_limited_token_does_not_read_other_topologies_through_a_preview(operator: User, two: tuple[str, str]) -> None:
    own, secret = (topologies.create(name=name, kind="ring", brokers=4) for name in ("own", "secret"))
    Network.objects.filter(pk=two[0]).update(topology=own, deployed=topologies.document(own))
    client = bearer(token_of(operator, "correct horse", networks=[two[0]]))
    url = f"/api/networks/{two[0]}/topology/"
    for id in (secret.pk, "unknown"):
        for dry in (True, False):
            answer = client.post(url, {"topology": id, "dry_run": dry}, format="json")
            assert (answer.status_code, answer.json()["sentence"]) == (403, OWN_TOPOLOGY)
    for id in (own.pk, None):
        assert client.post(url, {"topology": id, "dry_run": True}, format="json").status_code == 200
    whole = bearer(token_of(operator, "correct horse"))
    assert whole.post(url, {"topology": secret.pk, "dry_run": True}, format="json").status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"networks": []}, "networks"),
        ({"networks": ["nowhere"]}, "networks"),
        ({"networks": "all"}, "networks"),
        ({"days": 0}, "days"),
        ({"days": 366}, "days"),
        ({"days": "90"}, "days"),
    ],
)
def test_a_token_with_a_bad_limit_is_not_made(operator: User, body: dict[str, Any], field: str) -> None:
    assert refused(body) == (400, field)
    assert not Token.objects.exists()


def test_a_guest_limits_a_token_to_networks_that_it_sees(viewer: User, two: tuple[str, str]) -> None:
    Guest.objects.create(user=viewer)
    NetworkRight.objects.create(user=viewer, network_id=two[0], level="read")
    sent = {"username": "viktor", "password": "battery staple", "networks": list(two)}
    answer = bearer("x").post("/api/tokens/", sent, format="json")
    assert (answer.status_code, two[1] in answer.json()["sentence"]) == (400, True)
    assert token_of(viewer, "battery staple", networks=[two[0]])


def test_its_owner_chooses_when_it_expires(operator: User) -> None:
    for body, days in (({}, 90), ({"days": 7}, 7), ({"days": 365}, 365)):
        before = timezone.now()
        token_of(operator, "correct horse", **body)
        token = Token.objects.first()
        assert before + timedelta(days=days) <= token.expiry <= timezone.now() + timedelta(days=days)


def test_its_last_use_is_written_once_a_minute(operator: User) -> None:
    client = bearer(token_of(operator, "correct horse"))
    before = timezone.now()
    shown = client.get("/api/tokens/").json()["results"][0]
    assert before <= Token.objects.get().last_used <= timezone.now()
    assert shown["last_used"]
    with CaptureQueriesContext(
        connection,
    ) as queries:
        client.get("/api/presets/")
    assert not [query for query in queries if query["sql"].startswith("UPDATE")]
    long_ago = timezone.now() - timedelta(seconds=61)
    Token.objects.update(last_used=long_ago)
    client.get("/api/presets/")
    assert Token.objects.get().last_used > long_ago


def test_the_account_page_makes_and_shows_all_of_it(operator: User, two: tuple[str, str]) -> None:
    browser = Client()
    browser.force_login(operator)
    sent = {"name": "nightly", "scope": "read", "networks": [two[0]], "days": "30"}
    assert "Your new token" in browser.post("/account/tokens/", sent).content.decode()
    token = Token.objects.get()
    assert (token.networks, round((token.expiry - token.created) / timedelta(days=1))) == ([two[0]], 30)
    row = browser.get("/account/").content.decode().partition("nightly")[2].partition("</tr>")[0]
    assert ("campus" in row, "town" in row, "never" in row) == (True, False, True)
    wrong = browser.post("/account/tokens/", {**sent, "days": "many"})
    assert (wrong.status_code, "must be a whole number from 1 to 365" in wrong.content.decode()) == (400, True)
    assert f'value="{two[0]}" checked' in wrong.content.decode()
