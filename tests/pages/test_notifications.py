"""The page of notifications: a target is added, tested, changed and deleted; viewers see no secret address."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from brokerweb.notices import deliveries, services
from brokerweb.notices.models import Delivery, Target

HOOK = "http://127.0.0.1:9/hooks/s3cr3t"
BODY = {"name": "ops", "channel": "webhook", "address": HOOK, "secret": "hush", "kinds": ["run_failed", "report_done"]}


@pytest.fixture
def target(operator: User) -> Target:
    return services.create(**BODY, owner=operator)


def test_an_empty_page_offers_the_first_step(olga: Client) -> None:
    page = olga.get("/notifications/").content.decode()
    assert "No targets yet" in page
    assert "/notifications/new/?channel=email" in page


def test_a_target_is_added_tested_and_its_result_is_read(olga: Client) -> None:
    added = olga.post("/notifications/new/", BODY, follow=True).content.decode()
    assert "Added ops" in added
    target = Target.objects.get()
    olga.post(f"/notifications/{target.id}/test/")
    assert 'hx-trigger="every 2s"' in olga.get("/notifications/deliveries/").content.decode()
    deliveries.deliver_due()
    said = olga.get("/notifications/deliveries/").content.decode()
    assert "Connection failed: Connection refused." in said
    assert "hx-trigger" not in said


def test_it_is_changed_and_keeps_its_secret_unless_that_is_taken_away(olga: Client, target: Target) -> None:
    form = olga.get(f"/notifications/{target.id}/").content.decode()
    assert HOOK in form
    assert "hush" not in form
    olga.post(f"/notifications/{target.id}/", {**BODY, "name": "on call", "secret": "", "kinds": ["run_failed"]})
    target.refresh_from_db()
    assert (target.name, target.secret, target.kinds) == ("on call", "hush", ["run_failed"])
    olga.post(f"/notifications/{target.id}/", {**BODY, "secret": "", "forget_secret": "on"})
    target.refresh_from_db()
    assert target.secret == ""


def test_it_is_switched_off_and_on_and_deleted(olga: Client, target: Target) -> None:
    olga.post(f"/notifications/{target.id}/switch/", {"enabled": "no"})
    assert "Enable" in olga.get("/notifications/").content.decode()
    olga.post(f"/notifications/{target.id}/switch/", {"enabled": "yes"})
    assert "Disable" in olga.get("/notifications/").content.decode()
    olga.post(f"/notifications/{target.id}/delete/")
    assert not Target.objects.exists()


def test_what_is_wrong_is_said_and_what_was_typed_stays(olga: Client, db: None) -> None:
    for wrong, sentence in (
        ({"address": "gopher://x"}, "Must begin with http:// or https://"),
        ({"kinds": []}, "Select at least one"),
        ({"name": " "}, "Must be 1 to 100 printable characters"),
        ({"channel": "email", "address": "nobody"}, "Must be an e-mail address"),
    ):
        answer = olga.post("/notifications/new/", {**BODY, **wrong})
        page = answer.content.decode()
        assert answer.status_code == 400
        assert sentence in page
        if "address" not in wrong:
            assert HOOK in page
    assert not Target.objects.exists()


def test_who_may_only_look_sees_neither_the_path_of_a_webhook_nor_a_button(
    viktor: Client, target: Target, operator: User
) -> None:
    services.test(target)
    page = viktor.get("/notifications/").content.decode()
    assert "http://127.0.0.1:9/…" in page
    assert "s3cr3t" not in page
    assert "Send a test" not in page
    for name in ("test", "switch", "delete"):
        assert viktor.post(f"/notifications/{target.id}/{name}/").status_code == 403
    assert viktor.get(f"/notifications/{target.id}/").status_code == 403
    assert Delivery.objects.count() == 1


def test_without_a_mail_server_the_page_says_what_to_set(olga: Client, settings: Any) -> None:
    settings.EMAIL_BACKEND, settings.EMAIL_HOST = "django.core.mail.backends.smtp.EmailBackend", ""
    assert "EMAIL_URL=smtp://" in olga.get("/notifications/").content.decode()
    settings.EMAIL_HOST = "mail.example.org"
    assert "EMAIL_URL" not in olga.get("/notifications/").content.decode()
