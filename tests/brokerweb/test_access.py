"""Who comes in: tokens, their scopes, the lock-out, health."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from brokerweb.accounts.models import Token
from brokerweb.accounts.services import MAX_TOKENS, make_token
from brokerweb.networks.models import Host
from brokerweb.retention import services as storage
from brokerweb.up.__main__ import room_missing

pytestmark = pytest.mark.django_db


def token_of(user: User, password: str, **more: str) -> str:
    body = {"username": user.username, "password": password, **more}
    answer = APIClient().post("/api/tokens/", body, format="json")
    assert answer.status_code == 201, answer.content
    return answer.json()["token"]


def bearer(token: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client


RING = {"name": "r", "kind": "ring", "brokers": 3}


def test_a_token_opens_the_api(operator: User) -> None:
    client = bearer(token_of(operator, "correct horse"))
    assert client.post("/api/topologies/", RING, format="json").status_code == 201
    listed = client.get("/api/tokens/").json()
    assert listed["count"] == 1
    assert "token" not in listed["results"][0]


def test_a_script_that_logs_in_again_and_again_is_not_locked_out(operator: User) -> None:
    tokens = [token_of(operator, "correct horse", name=f"night {night}") for night in range(MAX_TOKENS)]
    assert bearer(tokens[0]).get("/api/tokens/").json()["count"] == MAX_TOKENS
    Token.objects.filter(name="night 7").update(expiry=timezone.now())
    token_of(operator, "correct horse")
    assert [bearer(tokens[night]).get("/api/topologies/").status_code for night in (0, 7)] == [200, 401]
    last = bearer(token_of(operator, "correct horse"))
    assert [bearer(tokens[night]).get("/api/topologies/").status_code for night in (0, 1)] == [401, 200]
    assert last.get("/api/tokens/").json()["count"] == MAX_TOKENS


def test_a_read_only_token_reads(operator: User) -> None:
    client = bearer(token_of(operator, "correct horse", scope="read"))
    assert client.get("/api/topologies/").status_code == 200
    refused = client.post("/api/topologies/", RING, format="json")
    assert (refused.status_code, "read-only" in refused.json()["sentence"]) == (403, True)


def test_a_revoked_token_opens_nothing(operator: User) -> None:
    client = bearer(token_of(operator, "correct horse"))
    token = client.get("/api/tokens/").json()["results"][0]["id"]
    assert client.delete(f"/api/tokens/{token}/").status_code == 204
    assert client.get("/api/topologies/").status_code == 401


def test_nobody_revokes_anothers_token(operator: User, viewer: User) -> None:
    mine, theirs = bearer(token_of(operator, "correct horse")), bearer(token_of(viewer, "battery staple"))
    token = mine.get("/api/tokens/").json()["results"][0]["id"]
    assert theirs.delete(f"/api/tokens/{token}/").status_code == 404


def on_the_account_page(user: User) -> None:
    browser = Client()
    browser.force_login(user)
    fresh = {"new_password1": "horse correct", "new_password2": "horse correct"}
    assert browser.post("/account/password/", {"old_password": "correct horse", **fresh}).status_code == 302


def in_the_admin(user: User) -> None:
    browser = Client()
    browser.force_login(User.objects.create_superuser("other"))
    fresh = {"password1": "horse correct", "password2": "horse correct", "usable_password": "true"}
    assert browser.post(f"/admin/auth/user/{user.pk}/password/", fresh).status_code == 302


def by_a_program(user: User) -> None:
    user.set_password("horse correct")
    user.save()


def disabled_in_the_admin(user: User) -> None:
    browser = Client()
    browser.force_login(User.objects.create_superuser("other"))
    sent = {"usable_password": "false", "unset-password": "Disable password-based authentication"}
    assert browser.post(f"/admin/auth/user/{user.pk}/password/", sent).status_code == 302


def disabled_by_a_program(user: User) -> None:
    user.set_unusable_password()
    user.save(update_fields=["password"])


@pytest.mark.parametrize("disabled", [disabled_in_the_admin, disabled_by_a_program])
def test_a_password_taken_away_ends_tokens_and_sessions(
    operator: User, viewer: User, disabled: Callable[[User], None]
) -> None:
    client, theirs = bearer(token_of(operator, "correct horse")), bearer(token_of(viewer, "battery staple"))
    elsewhere = Client()
    elsewhere.force_login(operator)
    disabled(User.objects.get(pk=operator.pk))
    assert client.get("/api/topologies/").status_code == 401
    assert elsewhere.get("/api/topologies/").status_code == 401
    assert theirs.get("/api/topologies/").status_code == 200


def test_a_program_keeps_the_token_of_an_account_that_never_had_a_password(db: None) -> None:
    robot = User.objects.create_user("robot")
    client = bearer(make_token(robot)[1])
    robot.first_name = "R2"
    robot.save()
    assert client.get("/api/topologies/").status_code == 200


@pytest.mark.parametrize("changed", [on_the_account_page, in_the_admin, by_a_program])
def test_a_changed_password_ends_tokens_and_other_sessions(
    operator: User, viewer: User, changed: Callable[[User], None]
) -> None:
    client, theirs = bearer(token_of(operator, "correct horse")), bearer(token_of(viewer, "battery staple"))
    elsewhere = Client()
    elsewhere.force_login(operator)
    changed(User.objects.get(pk=operator.pk))
    assert client.get("/api/topologies/").status_code == 401
    assert elsewhere.get("/api/topologies/").status_code == 401
    assert theirs.get("/api/topologies/").status_code == 200
    assert bearer(token_of(operator, "horse correct")).get("/api/topologies/").status_code == 200


def test_a_password_that_is_hashed_again_at_log_in_ends_nothing(operator: User, settings: Any) -> None:
    client = bearer(token_of(operator, "correct horse"))
    first = operator.password
    newer = "django.contrib.auth.hashers.PBKDF2PasswordHasher"
    settings.PASSWORD_HASHERS = [newer, *settings.PASSWORD_HASHERS]
    token_of(operator, "correct horse")
    assert User.objects.get(pk=operator.pk).password != first
    assert client.get("/api/topologies/").status_code == 200


@pytest.mark.parametrize("header", ["Bearer nonsense", "Bearer", "Bearer a b", "Basic eDp5", "Bearer \xff\xfe"])
def test_bad_credentials_are_refused_in_the_one_shape(operator: User, header: str) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=header)
    answer = client.get("/api/topologies/")
    assert answer.status_code == 401
    assert answer.json()["sentence"]


def test_guessing_is_locked_out(operator: User, settings) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    guess = {"username": "olga", "password": "wrong"}
    codes = [APIClient().post("/api/tokens/", guess, format="json").status_code for _ in range(4)]
    assert codes[0] == 401
    assert codes[-1] == 429
    right = {"username": "olga", "password": "correct horse"}
    locked = APIClient().post("/api/tokens/", right, format="json")
    assert int(locked["Retry-After"]) == 15 * 60
    assert (locked.status_code, "Try again" in locked.json()["sentence"]) == (429, True)


def test_health_readiness_and_metrics(client: Client) -> None:
    assert client.get("/healthz").json()["alive"] is True
    ready = client.get("/readyz")
    assert ready.status_code == 503
    assert any("make up" in sentence for sentence in ready.json()["missing"])
    assert b'waxwing_runs{state="queued"} 0.0' in client.get("/metrics").content
    assert client.get("/metrics", REMOTE_ADDR="10.1.2.3").status_code == 403


def test_too_little_space_is_said_as_a_launch_says_it_and_the_house_comes_up(client: Client) -> None:
    Host.objects.create(name="here", heartbeat=timezone.now(), supervisor={"pid": 1})
    assert client.get("/readyz").status_code == 200
    storage.change({"least_free_gb": 1_000_000})
    short = client.get("/readyz")
    assert (short.status_code, short.json()["checks"]["disk"]) == (503, False)
    (sentence,) = short.json()["missing"]
    assert sentence.startswith("The disk has ")
    assert sentence.endswith("; free up space under Storage.")
    assert room_missing(short.content.decode()) == sentence
    Host.objects.update(supervisor={}, problem="it ended")
    assert room_missing(client.get("/readyz").content.decode()) == ""


def test_the_documentation_needs_no_internet(client: Client) -> None:
    assert b"openapi: 3" in client.get("/api/schema/").content
    page = client.get("/api/docs/").content
    assert b"http://" not in page.replace(b"http://testserver", b"")
    assert b"https://" not in page


def test_every_state_is_listed_in_the_schema(client: Client) -> None:
    schema = client.get("/api/schema/").content.decode()
    for word in (
        "queued",
        "launching",
        "warming",
        "measuring",
        "collecting",
        "done",
        "failed",
        "cancelled",
        "degraded",
    ):
        assert f"- {word}\n" in schema
