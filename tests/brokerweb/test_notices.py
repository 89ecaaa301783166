"""Notifications: recipients, delivery, and targets that do not answer and delay no other."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from brokerweb.experiments.models import Run, RunState
from brokerweb.networks.models import Network, NetworkState
from brokerweb.notices import deliveries, detection
from brokerweb.notices.models import Delivery, Notice, Target
from brokerweb.reports.models import Report, ReportState
from tests.waiting import BOUND_S

pytestmark = pytest.mark.django_db

ALL = list(detection.LOOKS)


@dataclass
class Listener:
    """A program that listens for webhooks, and what it heard."""

    url: str = ""
    status: int = 200
    location: str = ""
    heard: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    silent: threading.Event = field(default_factory=threading.Event)
    """Where it is asked below ``/silent`` it answers once this is set."""


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path.startswith("/silent"):
                listener.silent.wait(BOUND_S)
                return
            listener.heard.append(({name.lower(): value for name, value in self.headers.items()}, data))
            self.send_response(listener.status)
            if listener.location:
                self.send_header("Location", listener.location)
            self.end_headers()
            self.wfile.write(b"thanks")

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield listener
    listener.silent.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def target(api: APIClient, listener: Listener) -> dict[str, Any]:
    return make(api, address=f"{listener.url}/hook?token=t")


def make(api: APIClient, **more: Any) -> dict[str, Any]:
    body = {"name": "ops", "channel": "webhook", "kinds": ALL, **more}
    answer = api.post("/api/notifications/", body, format="json")
    assert answer.status_code == 201, answer.content
    return answer.json()


@pytest.fixture
def launched(api: APIClient, ring: dict) -> Callable[..., list[Run]]:
    def launched(replicates: int = 1, name: str = "e") -> list[Run]:
        body = {"name": name, "topology": ring["id"], "replicates": replicates}
        made = api.post("/api/experiments/", body, format="json").json()
        ids = api.post(f"/api/experiments/{made['id']}/launch/").json()["runs"]
        return list(Run.objects.filter(pk__in=ids).order_by("position"))

    return launched


def end(run: Run, state: str, **more: Any) -> None:
    Run.objects.filter(pk=run.pk).update(state=state, ended_at=timezone.now(), **more)


def news() -> dict[str, str]:
    """What was seen, by kind."""
    detection.look(timezone.now())
    return dict(Notice.objects.values_list("kind", "title"))


def test_a_failed_run_is_told_once_with_its_reason_and_the_page_that_shows_it(
    target: dict, launched: Callable[..., list[Run]], listener: Listener, settings: Any
) -> None:
    settings.PUBLIC_URL = "https://lab.example"
    run, waiting = launched(replicates=2, name="Nightly")
    end(run, RunState.FAILED, reason="Broker 3 could not bind to 127.0.0.1:7003.")
    assert waiting.state == RunState.QUEUED
    for _ in range(3):
        detection.look(timezone.now())
        deliveries.deliver_due()
    ((headers, data),) = listener.heard
    told = json.loads(data)
    assert headers["x-waxwing-event"] == told["event"] == "run_failed"
    assert (told["title"], told["text"]) == (
        f"Run {run.position + 1} of Nightly failed",
        "Broker 3 could not bind to 127.0.0.1:7003.",
    )
    assert told["url"] == f"https://lab.example/runs/{run.pk}/"
    assert told["facts"]["run"] == run.pk
    assert "x-waxwing-signature" not in headers


def test_of_many_that_fail_together_one_is_told_and_the_end_counts_them(
    target: dict, launched: Callable[..., list[Run]]
) -> None:
    for run in launched(replicates=4):
        end(run, RunState.FAILED, reason="No.")
    end(
        Run.objects.all()[0], RunState.DONE, passed=False, thresholds=[{"text": "p95 < 2ms", "value": 9, "held": False}]
    )
    seen = news()
    assert set(seen) == {"run_failed", "experiment_finished", "thresholds_broken"}
    assert Notice.objects.filter(kind="run_failed").count() == 1
    finished = Notice.objects.get(kind="experiment_finished")
    assert finished.text == "Its runs have ended: 1 done, 3 failed. 1 broke their thresholds."
    assert "p95 < 2ms" in Notice.objects.get(kind="thresholds_broken").text


def test_looking_again_asks_as_often_of_many_that_have_finished_as_of_one(
    target: dict, launched: Callable[..., list[Run]]
) -> None:
    def questions() -> int:
        detection.look(timezone.now())
        with CaptureQueriesContext(connection) as asked:
            detection.look(timezone.now())
            return len(asked)

    def finish(name: str) -> None:
        for run in launched(replicates=2, name=name):
            end(run, RunState.DONE)

    finish("first")
    before = questions()
    for number in range(4):
        finish(f"another {number}")
    assert questions() == before
    assert Notice.objects.filter(kind="experiment_finished").count() == 5


def test_reports_and_networks_are_told(target: dict, ring: dict) -> None:
    now = timezone.now()
    Report.objects.create(state=ReportState.DONE, ended_at=now)
    Report.objects.create(state=ReportState.FAILED, ended_at=now, reason="Spark ended.")
    Network.objects.create(
        name="campus", topology_id=ring["id"], state=NetworkState.DEGRADED, reason="Broker 2 is down."
    )
    seen = news()
    assert seen["report_done"] == "The report of chosen runs is done"
    assert seen["report_failed"] == "The report of chosen runs failed"
    assert seen["network_degraded"] == "The network campus is degraded"


def test_of_a_network_whose_brokers_come_and_go_the_first_time_is_told(target: dict, ring: dict) -> None:
    network = Network.objects.create(name="campus", topology_id=ring["id"], state=NetworkState.DEGRADED)
    begun = datetime.fromtimestamp(time.time() // detection.SPELL_S * detection.SPELL_S, UTC)
    Target.objects.update(since=begun - timedelta(minutes=12))
    for second in range(3):
        Network.objects.filter(pk=network.pk).update(changed=begun + timedelta(seconds=second))
        detection.look(begun + timedelta(seconds=second))
    assert Delivery.objects.count() == 1
    Network.objects.filter(pk=network.pk).update(state=NetworkState.FAILED)
    detection.look(begun + timedelta(seconds=3))
    assert Delivery.objects.count() == 2


def test_a_target_is_told_of_what_it_asked_for_and_of_nothing_before_it(
    api: APIClient, listener: Listener, launched: Callable[..., list[Run]]
) -> None:
    early, late = launched(replicates=2)
    end(early, RunState.FAILED)
    Run.objects.filter(pk=early.pk).update(ended_at=timezone.now() - timedelta(minutes=12))
    make(api, address=listener.url, kinds=["run_failed"])
    make(api, name="others", address=listener.url, kinds=["report_done"])
    assert news() == {}
    end(late, RunState.FAILED)
    assert list(news()) == ["run_failed"]
    assert Delivery.objects.get().target.name == "ops"


def test_with_a_secret_the_body_is_signed_and_the_secret_is_never_shown(api: APIClient, listener: Listener) -> None:
    made = make(api, address=f"{listener.url}/private/path", secret="hush")
    api.post(f"/api/notifications/{made['id']}/test/")
    deliveries.deliver_due()
    ((headers, data),) = listener.heard
    expected = hmac.new(b"hush", data, hashlib.sha256).hexdigest()
    assert headers["x-waxwing-signature"] == f"sha256={expected}"
    shown = api.get(f"/api/notifications/{made['id']}/").json()
    assert (shown["signed"], "hush" in str(shown), "private" in str(shown)) == (True, False, False)


def test_a_target_that_does_not_answer_holds_up_nobody(api: APIClient, listener: Listener, settings: Any) -> None:
    settings.NOTICE_TIMEOUT_SECONDS = 0.3
    silent = make(api, name="silent", address=f"{listener.url}/silent")
    good = make(api, name="good", address=listener.url)
    for made in (silent, good):
        api.post(f"/api/notifications/{made['id']}/test/")
    assert deliveries.deliver_due() == 2
    assert len(listener.heard) == 1
    rows = {
        one: api.get(f"/api/notifications/{made['id']}/deliveries/").json()["results"][0]
        for one, made in (("silent", silent), ("good", good))
    }
    assert (rows["good"]["state"], rows["good"]["sentence"]) == ("delivered", "Answered 200 OK.")
    assert (rows["silent"]["state"], rows["silent"]["sentence"]) == ("failed", "No answer within 0.3 s.")


def test_what_fails_is_tried_again_later_and_later_and_then_given_up(
    target: dict, listener: Listener, launched: Callable[..., list[Run]]
) -> None:
    listener.status = 503
    run, _waiting = launched(replicates=2)
    end(run, RunState.FAILED)
    news()
    now, gaps = timezone.now(), []
    while (delivery := Delivery.objects.get()).state == "waiting":
        gaps.append(delivery.due - now)
        now = max(now, delivery.due)
        assert deliveries.deliver_due(now) == 1
        Delivery.objects.filter(state="waiting").update(due=now + (Delivery.objects.get().due - timezone.now()))
    assert delivery.sentence == "Answered 503 Service Unavailable: thanks Given up after 5 attempts."
    assert len(listener.heard) == 5
    assert [round(gap.total_seconds(), -1) for gap in gaps[1:]] == [30, 120, 600, 3600]
    assert Target.objects.get().failures == 5


def test_redirects_are_not_followed(api: APIClient, target: dict, listener: Listener) -> None:
    listener.status, listener.location = 302, f"{listener.url}/elsewhere"
    api.post(f"/api/notifications/{target['id']}/test/")
    deliveries.deliver_due()
    assert len(listener.heard) == 1
    assert "Redirects are not followed" in Delivery.objects.get().sentence


def test_after_twenty_failures_in_a_row_it_is_switched_off_and_says_why(
    api: APIClient, target: dict, listener: Listener
) -> None:
    listener.status = 500
    Target.objects.update(failures=19)
    api.post(f"/api/notifications/{target['id']}/test/")
    deliveries.deliver_due()
    shown = api.get(f"/api/notifications/{target['id']}/").json()
    assert (shown["enabled"], shown["failures"]) == (False, 20)
    assert shown["note"].startswith("Disabled after 20 consecutive failures. The last: Answered 500")
    again = api.patch(f"/api/notifications/{target['id']}/", {"enabled": True}, format="json").json()
    assert (again["enabled"], again["failures"], again["note"]) == (True, 0, "")


def test_two_workers_never_send_the_same_and_one_target_gets_one_at_a_time(
    api: APIClient, target: dict, listener: Listener
) -> None:
    for _ in range(2):
        api.post(f"/api/notifications/{target['id']}/test/")
    now = timezone.now()
    first = deliveries._take(now)
    assert len(first) == 1
    assert deliveries._take(now) == []
    deliveries.end(first[0], True, "Answered 200 OK.", now)
    assert len(deliveries._take(now)) == 1


def test_an_e_mail_arrives_with_the_link(
    api: APIClient, settings: Any, tmp_path: Path, launched: Callable[..., list[Run]]
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    settings.EMAIL_FILE_PATH = tmp_path / "mail"
    settings.PUBLIC_URL = "https://lab.example"
    make(api, channel="email", address="ops@example.org")
    run, _waiting = launched(replicates=2)
    end(run, RunState.FAILED, reason="The port is in use.")
    news()
    deliveries.deliver_due()
    (letter,) = (tmp_path / "mail").iterdir()
    text = letter.read_text()
    assert "To: ops@example.org" in text
    assert "The port is in use." in text
    assert f"https://lab.example/runs/{run.pk}/" in text


def test_without_a_mail_server_it_says_what_to_set(api: APIClient, settings: Any) -> None:
    settings.EMAIL_BACKEND, settings.EMAIL_HOST = "django.core.mail.backends.smtp.EmailBackend", ""
    made = make(api, channel="email", address="ops@example.org")
    api.post(f"/api/notifications/{made['id']}/test/")
    deliveries.deliver_due()
    assert "EMAIL_URL" in Delivery.objects.get().sentence


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"address": "ftp://example.org"}, "address"),
        ({"address": "http://"}, "address"),
        ({"address": "http://user:pass@example.org"}, "address"),
        ({"address": "http://exa mple.org"}, "address"),
        ({"address": "javascript:alert(1)"}, "address"),
        ({"channel": "pigeon"}, "channel"),
        ({"channel": "email"}, "address"),
        ({"kinds": []}, "kinds"),
        ({"kinds": ["weather"]}, "kinds"),
        ({"name": ""}, "name"),
    ],
)
def test_a_wrong_target_is_named_and_not_made(api: APIClient, body: dict, field: str) -> None:
    whole = {"name": "ops", "channel": "webhook", "address": "http://127.0.0.1:9", "kinds": ALL, **body}
    answer = api.post("/api/notifications/", whole, format="json")
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert not Target.objects.exists()


def test_who_may_only_look_makes_none(viewer: User) -> None:
    client = APIClient()
    client.force_authenticate(viewer)
    assert client.post("/api/notifications/", {}, format="json").status_code == 403
