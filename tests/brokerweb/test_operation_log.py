"""The operation log: who did what through a network, kept in bounded space, searched, exported, shown to operators."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from brokerweb.accounts.services import make_token
from brokerweb.front import locks
from brokerweb.front.application import SERVICE
from brokerweb.kit.errors import NotAnswered
from brokerweb.networks.models import Network
from brokerweb.operationlog import recording, storing, worst
from brokerweb.operationlog.buffer import Buffer, Taken
from brokerweb.operationlog.entries import (
    BATCH,
    GET,
    NO_ANSWER,
    NOT_FOUND,
    OUTCOMES,
    PUT,
    REST,
    Entry,
    Line,
    lines_of,
    outcome_of,
)
from brokerweb.operationlog.models import Operation, WorstQuery
from overlay.core.errors import InvalidSetting
from tests.brokerweb.test_front import deployed
from tests.runtime.daemons import Daemon

NOW_NS = 1_795_400_000 * 10**9


def entry(number: int = 0, **fields: Any) -> Entry:
    given = {"at_ns": NOW_NS + number * 10**9, "took_ns": 1_500_000, "network": "n", "who": "", "via": REST, "op": GET}
    given |= {"key": ("room", f"r{number}", "temp"), "source": "", "status": 200, "answer": b""}
    return Entry(**{**given, **fields})


def line(took_us: int, **fields: Any) -> Line:
    given = {"network": "n", "at_ns": 0, "took_us": took_us, "who": "", "via": REST, "op": GET, "key": "k"}
    return Line(**{**given, "source": "", "status": 200, "outcome": "done", **fields})


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[None]:
    """Nothing is written but by these tests, and nothing is left of others."""
    settings.OPERATION_ROWS = 100_000
    monkeypatch.setattr(recording, "_start", lambda: None)
    monkeypatch.setattr(storing, "_STATE", storing._State())
    recording.BUFFER.take()
    yield
    recording.BUFFER.take()


@given(st.lists(st.one_of(st.integers(0, 40), st.none()), max_size=60))
def test_each_operation_is_either_kept_in_its_order_or_counted(steps: list[int | None]) -> None:
    """Added with answers of some bytes, and taken (``None``) now and then."""
    buffer, taken, added, lost = Buffer(5, 60), list[int](), 0, Counter[str]()
    for step in [*steps, None]:
        if step is None:
            found = buffer.take()
            taken += [one.at_ns for one in found.entries]
            lost += found.lost
        else:
            buffer.add(entry(added, answer=b"." * step))
            added += 1
        assert len(buffer) <= 5
    assert taken == sorted(taken)
    assert len(taken) + lost.total() == added


@given(st.binary(max_size=400), st.integers(100, 599), st.text(max_size=20))
def test_no_answer_and_no_name_stops_the_log(body: bytes, status: int, name: str) -> None:
    items = [(GET, (name, name, name), name)]
    for one in (entry(answer=body, status=status, source=name), entry(answer=body, op=BATCH, items=items)):
        for found in lines_of(one):
            assert found.outcome in OUTCOMES
            assert "\0" not in found.key + found.source


def test_what_a_server_says_about_itself_is_read_from_the_end_of_its_answer() -> None:
    told = {"payload": {"x": '"broker_index":7'}, "text": '"broker_index":8,"hops":9', "broker": "127.0.0.1:5"}
    told |= {"broker_index": 3, "hops": 2, "strategy": "walk", "walk": f"/api/networks/n/walks/{'ab' * 8}/"}
    (found,) = lines_of(entry(answer=json.dumps(told, separators=(",", ":")).encode()))
    assert (found.server, found.hops, found.way, found.trace) == (3, 2, "walk", "ab" * 8)
    (failed,) = lines_of(entry(status=504, error=NotAnswered("Broker 1 does not answer.")))
    assert (failed.outcome, failed.sentence, failed.server) == (NO_ANSWER, "Broker 1 does not answer.", None)
    forged = InvalidSetting("broker", 'must be an index, not "broker_index":7,"strategy":"aaaaaaaaaaaaaaaaaaaa"')
    (refused,) = lines_of(entry(status=400, error=forged, network="n" * 99))
    assert (refused.server, refused.way, refused.network) == (None, "", "n" * 20), "a sentence quotes the request"


@given(st.lists(st.tuples(st.integers(0, 50), st.sampled_from(OUTCOMES)), max_size=300), st.integers(-1, 50))
def test_the_worst_are_the_slowest_answered_and_the_latest_failed(found: list[tuple[int, str]], above: int) -> None:
    status = {one: code for code in (200, 304, 404, 412, 400, 403, 504, 500) if (one := outcome_of(code))}
    lines = [line(took, outcome=outcome, status=status.get(outcome, 0)) for took, outcome in found]
    slow, failed = worst.slow(lines, above), worst.failed(lines)
    assert len(slow) <= worst.MOST >= len(failed)
    assert all(one.took_us > above for one in slow)
    left = [one.took_us for one in lines if one.status < 400 and one.took_us > above and one not in slow]
    assert not slow or max(left, default=0) <= slow[-1].took_us
    assert failed == [one for one in lines if one.outcome in worst.FAILURES][-worst.MOST :]
    assert worst.slow([line(60, waits=True), line(60, in_batch=True), line(60, op=PUT)], above) == []


@pytest.mark.django_db
def test_the_log_of_a_network_keeps_the_newest_rows_and_no_old_ones(settings: Any) -> None:
    settings.OPERATION_ROWS, settings.OPERATION_DAYS = 40, 2
    for begin in range(0, 100, 5):
        storing.write(Taken([entry(begin + n) for n in range(5)] + [entry(begin, network="other")], Counter()))
        assert Operation.objects.filter(network="n").count() <= 45
    kept = [row.key for row in Operation.objects.filter(network="n").order_by("id")]
    assert kept == [f"room|r{number}|temp" for number in range(100 - len(kept), 100)]
    assert Operation.objects.filter(network="other").count() == 20
    at = datetime.fromtimestamp(NOW_NS / 1e9, UTC)
    assert storing.thin(at + timedelta(days=1)) == 0
    assert WorstQuery.objects.filter(network="n").count() == worst.MOST
    assert storing.thin(at + timedelta(days=3)) > 0
    assert (Operation.objects.count(), WorstQuery.objects.count()) == (0, 0)


@pytest.mark.django_db
def test_only_the_worst_queries_of_a_network_are_kept() -> None:
    for turn in range(3):
        slow = [entry(n, took_ns=(turn * 80 + n) * 1000) for n in range(80)]
        storing.write(Taken([*slow, *(entry(n, status=404) for n in range(60))], Counter()))
    rows = WorstQuery.objects.filter(network="n")
    assert sorted(rows.filter(is_failed=False).values_list("took_us", flat=True)) == list(range(140, 240))
    assert rows.filter(is_failed=True, outcome=NOT_FOUND).count() == worst.MOST


@pytest.fixture(scope="module")
def broker() -> Iterator[Daemon]:
    daemon = Daemon()
    yield daemon
    daemon.end()


@pytest.mark.django_db(transaction=True)
def test_the_form_of_the_page_stores_as_rest_does_one_change_at_a_time(
    broker: Daemon, operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, browser, woken = deployed(broker.text), Client(), list[Any]()
    browser.force_login(operator)
    monkeypatch.setattr(SERVICE.waiters, "stored", woken.append)
    form = {"do": "provide", "type": "room", "entity": "r1", "scope": "t", "provider": "p", "payload": "n=1;"}
    url = reverse("context_broker:context", args=[network.pk])
    assert browser.post(url, {**form, "valid_ms": "9000"}).status_code == 200
    assert woken == [(network.pk, ("room", "r1", "t"))]
    monkeypatch.setattr(locks, "MOST_WAITING", -1)
    assert locks.TOO_MANY in browser.post(url, {**form, "valid_ms": "9000"}).content.decode()
    assert len(woken) == 1


@pytest.mark.django_db(transaction=True)
def test_requests_are_told_to_operators_by_page_rest_and_file(broker: Daemon, operator: User, viewer: User) -> None:
    network: Network = deployed(broker.text)
    base = f"/api/networks/{network.pk}"
    token, text = make_token(operator)
    client, looker = APIClient(), APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    looker.force_authenticate(viewer)
    body = {"provider": "sensor-1", "payload": {"n": "1"}}
    assert client.put(f"{base}/context/room/r1/temp/", body, format="json").status_code == 200
    assert client.get(f"{base}/context/room/r1/temp/").status_code == 200
    assert client.get(f"{base}/context/room/none/temp/").status_code == 404
    assert looker.put(f"{base}/context/room/r1/temp/", body, format="json").status_code == 403
    dry = client.get(f"{base}/context/room/r1/temp/?dry=true")  # and is not in the log
    assert (dry.status_code, dry.json()["broker_index"]) == (200, 0)
    keys = {"type": "room", "scope": "temp"}
    batch = [{"op": "get", "entity": "r1", **keys}, {"op": "put", "entity": "r2", **keys, **body}]
    assert client.post(f"{base}/context/batch/", {"operations": batch}, format="json").status_code == 200
    recording.RECORDER.flush()

    found = client.get(f"{base}/operations/?cursor=&page_size=4").json()
    rest = client.get(found["next"]).json()["results"]
    assert found["count"] == 6
    told = [(one["op"], one["about"]["entity"], one["outcome"], one["broker_index"]) for one in rest[::-1]]
    assert told == [("put", "r1", "done", 0), ("get", "r1", "done", 0)]
    told = [(one["op"], one["about"]["entity"], one["outcome"], one["who"]) for one in found["results"][::-1]]
    expected = [("get", "none", "not_found", "olga"), ("put", "r1", "forbidden", "viktor")]
    assert told == [*expected, ("get", "r1", "done", "olga"), ("put", "r2", "done", "olga")]
    assert (rest[-1]["token"], rest[-1]["provider"], rest[-1]["hops"]) == (token.token_key, "sensor-1", None)
    assert all(one["took_us"] > 0 for one in rest)

    def count(query: str) -> int:
        answer = client.get(f"{base}/operations/?{query}")
        return answer.json()["count"] if answer.status_code == 200 else -answer.status_code

    asked = (
        "who=olga",
        "outcome=done,forbidden",
        "entity=room+r2",
        "op=put",
        "to=2026-01-01",
        "broker=0",
        "provider=x",
    )
    assert [count(one) for one in asked] == [5, 5, 1, 3, 0, 4, 0]
    wrong = ("outcome=well", "from=yesterday", "to=9999-12-31T23:59:59-23:59", "broker=x", "entity=" + "a" * 201)
    assert [count(one) for one in wrong] == [-400] * len(wrong)
    assert looker.get(f"{base}/operations/").status_code == 403

    table = csv.DictReader(io.StringIO(client.get(f"{base}/operations/export/?format=csv").content.decode()))
    lines = client.get(f"{base}/operations/export/?format=jsonl&op=put").content.decode().splitlines()
    assert [row["outcome"] for row in table].count("done") == 4
    assert {json.loads(one)["op"] for one in lines} == {"put"}
    assert client.get(f"{base}/operations/export/?format=xml").status_code == 400

    slow = client.get(f"{base}/slow/").json()["results"]
    assert [one["about"]["entity"] for one in slow] == ["r1"]
    assert [one["outcome"] for one in client.get(f"{base}/slow/?kind=failed").json()["results"]] == ["not_found"]
    browser = Client()
    browser.force_login(operator)
    for asked in (
        {"do": "ask", "entity": "r9"},
        {"do": "ask", "entity": "r9", "dry": "yes"},
        {"do": "provide", "entity": "r9", **body, "valid_ms": "9000"},
    ):
        form = {**keys, **asked, "payload": "n=1;"}
        assert browser.post(reverse("context_broker:context", args=[network.pk]), form).status_code == 200
    recording.RECORDER.flush()
    assert client.get(f"{base}/context/room/r1/temp/?dry=maybe").status_code == 400
    assert client.delete(f"{base}/context/room/r2/temp/?provider=sensor-1").status_code == 200
    client.get(f"{base}/context/?type=room&page_size=3")
    recording.RECORDER.flush()
    listed, deleted = (
        client.get(f"{base}/operations/?op=list").json(),
        client.get(f"{base}/operations/?op=delete").json(),
    )
    assert [one["key"] for one in listed["results"]] == ["type=room|page_size=3"]
    assert [(one["provider"], one["outcome"]) for one in deleted["results"]] == [("sensor-1", "done")]
    shown = client.get(f"{base}/operations/?entity=r9").json()["results"]
    assert [(one["via"], one["op"], one["outcome"]) for one in shown] == [
        ("page", "put", "done"),
        ("page", "get", "not_found"),
    ]
    page = browser.get(f"/networks/{network.pk}/operations/?entity=none").content.decode()
    assert "not found" in page
    assert "olga" in page
    assert browser.get(f"/networks/{network.pk}/operations/?from=x").status_code == 400
    again = f"/networks/{network.pk}/?type=room&entity=r1&scope=temp&trace=yes&walk="
    for walk, is_shown in (("", False), ("a b/c", False), ("0" * 16, True)):
        page = browser.get(f"{again}{quote(walk, safe='')}").content.decode()
        assert 'value="r1"' in page
        assert (f"/walks/{'0' * 16}/" in page) is is_shown


@pytest.mark.django_db
def test_what_finds_no_room_is_counted_and_shown(monkeypatch: pytest.MonkeyPatch, operator: User) -> None:
    network = deployed("127.0.0.1:9")
    monkeypatch.setattr(recording, "BUFFER", Buffer(2, 1_000))
    for number in range(5):
        recording.record(entry(number, network=network.pk))
    recording.RECORDER.flush()
    browser = Client()
    browser.force_login(operator)
    assert "3 operations are missing here" in browser.get(f"/networks/{network.pk}/operations/").content.decode()
    client = APIClient()
    client.force_authenticate(operator)
    found = client.get(f"/api/networks/{network.pk}/operations/?outcome=lost").json()["results"]
    assert [one["count"] for one in found] == [3]
