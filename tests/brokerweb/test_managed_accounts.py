"""Administrators manage accounts on pages and through REST: role, rights on networks, log-in, tokens."""

from __future__ import annotations

import sys

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from rest_framework.test import APIClient

from brokerweb.accounts import roles
from brokerweb.accounts.models import NetworkRight, Token
from brokerweb.accounts.services import make_token
from brokerweb.changelog.models import Change
from brokerweb.networks.models import Network

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(operator: User) -> Client:
    client = Client()
    client.force_login(operator)
    return client


def test_role_rights_and_log_in_are_set_on_a_page_and_logged(browser: Client, viewer: User) -> None:
    for name in ("campus", "town"):
        Network.objects.create(pk=name, name=name)
    NetworkRight.objects.create(user=viewer, network_id="campus", level="read")
    assert f'href="/accounts/{viewer.pk}/"' in browser.get("/accounts/?q=vik").content.decode()
    assert "No account matches." in browser.get("/accounts/?q=nobody").content.decode()
    page = f"/accounts/{viewer.pk}/"
    assert "campus" in browser.get(page).content.decode()
    form = {"role": "guest", "active": "yes", "right-campus": "write", "network": "town", "level": "read"}
    assert "Saved viktor." in browser.post(page, form, follow=True).content.decode()
    assert roles.rights_of(viewer) == {"campus": "write", "town": "read"}
    browser.post(page, {"role": "viewer", "right-campus": "", "right-town": "read"})
    viewer.refresh_from_db()
    assert (roles.stored_role(viewer).word, viewer.is_active, roles.rights_of(viewer)) == (
        "viewer",
        False,
        {"town": "read"},
    )
    assert "disabled" in browser.get("/accounts/").content.decode()
    log = Change.objects.filter(kind="account", object_id=viewer.pk).order_by("id")
    assert [one.action for one in log] == ["set role", "set rights", "set role", "set active", "set rights"]
    assert (log[3].before, log[3].after) == ({"is_active": True}, {"is_active": False})
    for wrong, status in (({"role": "king"}, 400), ({"role": "viewer", "right-nowhere": "read"}, 400)):
        assert browser.post(page, wrong).status_code == status
    assert roles.rights_of(viewer) == {"town": "read"}, "nothing was changed"


def test_the_last_administrator_stays(browser: Client, operator: User) -> None:
    page, url = f"/accounts/{operator.pk}/", f"/api/accounts/{operator.pk}/"
    for form in ({"role": "viewer", "active": "yes"}, {"role": "administrator"}):
        assert browser.post(page, form).status_code == 409
    client = APIClient()
    client.force_authenticate(operator)
    assert client.patch(url, {"is_active": False}, format="json").status_code == 409
    operator.refresh_from_db()
    assert (operator.is_active, operator.is_superuser) == (True, True)


def test_tokens_of_others_are_shown_and_revoked(browser: Client, operator: User, viewer: User) -> None:
    (first, _), (second, _) = make_token(viewer, name="sensor"), make_token(viewer)
    client = APIClient()
    client.force_authenticate(operator)
    url = f"/api/accounts/{viewer.pk}/tokens/"
    assert {one["id"] for one in client.get(url).json()} == {first.id, second.id}
    assert "sensor" in browser.get(f"/accounts/{viewer.pk}/").content.decode()
    assert browser.post(f"/accounts/{viewer.pk}/tokens/{first.id}/revoke/").status_code == 302
    assert client.delete(f"{url}{second.id}/").status_code == 204
    assert client.delete(f"{url}{second.id}/").status_code == 404
    assert not Token.objects.exists()
    assert client.patch(f"/api/accounts/{viewer.pk}/", {"is_active": False}, format="json").json()["is_active"] is False
    looker = Client()
    looker.force_login(User.objects.create_user("vera"))
    assert {looker.get(one).status_code for one in ("/accounts/", f"/accounts/{viewer.pk}/")} == {403}


def test_an_account_made_on_the_command_line_is_in_the_change_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["manage.py", "createsuperuser"])
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "correct horse")
    call_command("createsuperuser", interactive=False, username="root", email="root@example.org", verbosity=0)
    change = Change.objects.get()
    assert (change.kind, change.action, change.source, change.name) == ("account", "create", "command", "root")
    assert change.after["role"] == "administrator"
    assert "correct horse" not in str(change.after)
