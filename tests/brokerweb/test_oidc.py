"""Log-in by an OpenID provider: a small real one in this process, over HTTP, with signed tokens."""

from __future__ import annotations

import json
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client
from joserfc import jwt
from joserfc.jwk import RSAKey

from brokerweb.accounts import oidc, roles
from brokerweb.accounts.rights import Role
from brokerweb.changelog.models import Change
from overlay.core.errors import InvalidSetting

pytestmark = pytest.mark.django_db
CLIENT = "waxwing"
ROLES = "groups: lab-admins=administrator, lab=operator, guests=guest"


@cache
def key(_name: str) -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": "1", "use": "sig", "alg": "RS256"})


class Provider(ThreadingHTTPServer):
    """Authorization code flow with PKCE; what it says can be bent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.key = self.signs_with = key("own")
        self.claims: dict[str, Any] = {"sub": "u-1", "preferred_username": "lena", "groups": ["lab"]}
        self.bent: dict[str, Any] = {}
        self.asked: dict[str, str] = {}

    def id_token(self) -> str:
        now = int(time.time())
        standard = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 60, "nonce": self.asked["nonce"]}
        claims = {**standard, **self.claims, **self.bent}
        return jwt.encode({"alg": "RS256", "kid": "1"}, claims, self.signs_with)


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        at = urlsplit(self.path)
        url = self.server.url
        if at.path == "/.well-known/openid-configuration":
            metadata = {
                "issuer": url,
                "authorization_endpoint": f"{url}/authorize",
                "token_endpoint": f"{url}/token",
                "jwks_uri": f"{url}/keys",
                "id_token_signing_alg_values_supported": ["RS256"],
            }
            self._say(metadata)
        elif at.path == "/keys":
            self._say({"keys": [self.server.key.as_dict(private=False)]})
        else:
            self.server.asked = asked = {name: values[0] for name, values in parse_qs(at.query).items()}
            self.send_response(302)
            query = urlencode({"code": "c-1", "state": asked["state"]})
            self.send_header("Location", f"{asked['redirect_uri']}?{query}")
            self.end_headers()

    def do_POST(self) -> None:
        sent = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        digest = urlsafe_b64encode(sha256(sent["code_verifier"][0].encode()).digest()).rstrip(b"=").decode()
        if digest != self.server.asked["code_challenge"]:
            self._say({"error": "invalid_grant"}, 400)
            return
        self._say({"access_token": "a", "token_type": "Bearer", "id_token": self.server.id_token()})

    def _say(self, body: dict[str, Any], status: int = 200) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


@pytest.fixture
def provider(settings: Any) -> Iterator[Provider]:
    server = Provider()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = server.url, CLIENT, "s3cr3t"
    settings.OIDC_ROLES = ROLES
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def came_back(browser: Client, query: str = "") -> Any:
    """What our page says when the provider sends the browser back."""
    import httpx

    to_provider = browser.get(f"/login/oidc/{query}")
    assert to_provider.status_code == 302
    back = urlsplit(httpx.get(to_provider["Location"]).headers["Location"])
    return browser.get(f"{back.path}?{back.query}")


def test_someone_of_the_provider_logs_in_with_the_role_of_the_claims(provider: Provider) -> None:
    browser = Client()
    assert "/login/oidc/" in browser.get("/login/").content.decode()
    assert came_back(browser, "?next=/runs/")["Location"] == "/runs/"
    lena = User.objects.get(username="lena")
    assert (roles.stored_role(lena), lena.has_usable_password()) == (Role.OPERATOR, False)
    assert browser.get("/api/accounts/me/").json()["username"] == "lena"
    provider.claims |= {"groups": ["lab", "lab-admins"], "preferred_username": "renamed"}
    assert came_back(browser, "?next=https://elsewhere.example/")["Location"] == "/"
    assert roles.stored_role(User.objects.get(pk=lena.pk)) is Role.ADMINISTRATOR
    assert User.objects.count() == 1
    said = list(Change.objects.order_by("id").values_list("action", "name"))
    assert said == [("create", "lena"), ("set role", "lena"), ("set role", "lena")]


def test_what_the_provider_did_not_say_opens_nothing(provider: Provider) -> None:
    User.objects.create_user("olga")
    for bent in (
        {"iss": "http://elsewhere.example"},
        {"aud": "another"},
        {"exp": int(time.time()) - 3600},
        {"nonce": "old"},
        {"groups": ["visitors"]},
        {"preferred_username": "olga"},
        {"preferred_username": "a\nb"},
    ):
        provider.bent = bent
        answer = came_back(browser := Client())
        assert (answer.status_code, "Not logged in" in answer.content.decode()) == (403, True), bent
        assert browser.get("/api/accounts/me/").status_code == 401
    provider.bent, provider.signs_with = {}, key("another")
    assert came_back(Client()).status_code == 403, "signed by another key"
    provider.signs_with = provider.key
    browser = Client()
    browser.get("/login/oidc/")
    assert browser.get("/login/oidc/callback/?code=c-1&state=forged").status_code == 403
    assert User.objects.count() == 1


def test_a_disabled_account_and_the_last_administrator(provider: Provider) -> None:
    provider.claims["groups"] = ["lab-admins"]
    came_back(Client())
    provider.claims["groups"] = ["guests"]
    refused = came_back(Client())
    assert (refused.status_code, "only administrator" in refused.content.decode()) == (403, True)
    User.objects.update(is_active=False)
    assert "disabled" in came_back(Client()).content.decode()


def test_without_a_provider_there_is_no_such_log_in(client: Client, settings: Any) -> None:
    assert settings.OIDC_ISSUER == ""
    assert "/login/oidc/" not in client.get("/login/").content.decode()
    assert [client.get(path).status_code for path in ("/login/oidc/", "/login/oidc/callback/")] == [404, 404]
    settings.OIDC_ISSUER = "http://127.0.0.1:1"
    assert client.get("/login/oidc/").status_code == 502


@pytest.mark.parametrize("text", ["", "groups", "groups:", "groups: lab", "groups: lab=queen", ": lab=viewer"])
def test_a_bad_mapping_is_refused(text: str) -> None:
    with pytest.raises(InvalidSetting, match=r"must"):
        oidc.read_mapping(text)


def test_the_highest_role_counts() -> None:
    mapped = oidc.read_mapping("groups: a=b=viewer, lab=operator, *=guest")
    assert mapped.role({"groups": ["x", "lab", "a=b"]}) is Role.OPERATOR
    assert mapped.role({"groups": "a=b"}) is Role.VIEWER
    assert mapped.role({}) is Role.GUEST
    assert oidc.read_mapping("groups: lab=operator").role({"groups": None}) is None
