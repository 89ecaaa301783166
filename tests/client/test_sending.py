"""Requests over a transport of the test's own: retries and their waits, pages, streams. Nothing waits."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import islice
from typing import Any

import httpx
import pytest

from waxwing import (
    ApiError,
    AsyncClient,
    Client,
    InvalidMessage,
    NoConnection,
    NotFound,
    NotInTime,
    Redirected,
    Retry,
    TooMany,
    UnexpectedAnswer,
)
from waxwing.calls import call
from waxwing.retries import Attempts, retry_after
from waxwing.sse import Event, EventReader

NOW = datetime(2026, 11, 28, tzinfo=UTC)
REFUSED = {"field": "", "code": "throttled", "sentence": "Too many.", "errors": []}
Served = Callable[[httpx.Request], httpx.Response]


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits, in seconds, that were asked for; other threads, such as that of the operation log, wait as they do."""
    asked: list[float] = []
    here, really_sleep = threading.get_ident(), time.sleep

    def wait(seconds: float) -> None:
        if threading.get_ident() == here:
            asked.append(seconds)
        else:
            really_sleep(seconds)

    async def sleep(seconds: float) -> None:
        asked.append(seconds)

    monkeypatch.setattr("waxwing._sync.transport.time.sleep", wait)
    monkeypatch.setattr("waxwing._async.transport.asyncio.sleep", sleep)
    monkeypatch.setattr("random.random", lambda: 1.0)
    return asked


def served(*answers: httpx.Response | Exception) -> tuple[list[httpx.Request], Served]:
    """The requests that came, and what gives these answers in turn."""
    seen: list[httpx.Request] = []
    left: Iterator[Any] = iter(answers)

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        one = next(left)
        if isinstance(one, Exception):
            raise one
        return one  # type: ignore[no-any-return]

    return seen, answer


def client(answer: Served, **more: Any) -> Client:
    return Client("http://there", "secret", http=httpx.MockTransport(answer), **more)


def test_what_was_refused_for_now_is_sent_again_after_the_time_that_the_server_names(waits: list[float]) -> None:
    busy = httpx.Response(429, json=REFUSED, headers={"Retry-After": "7"})
    seen, answer = served(busy, httpx.Response(503), httpx.Response(200, json={"id": "n"}))
    assert client(answer).networks.create("n").id == "n"
    assert waits == [7.2, 0.4]
    assert len({one.headers["Idempotency-Key"] for one in seen}) == 1
    assert [json.loads(one.content)["name"] for one in seen] == ["n"] * 3
    assert seen[0].headers["Authorization"] == "Bearer secret"


def test_both_clients_send_and_wait_the_same(waits: list[float]) -> None:
    async def asked() -> None:
        _, answer = served(httpx.ConnectError("refused"), httpx.Response(404, json={**REFUSED, "code": "not_found"}))
        async with AsyncClient("http://there", "t", http=httpx.MockTransport(answer)) as waxwing:
            with pytest.raises(NotFound):
                await waxwing.runs.get("r")

    asyncio.run(asked())
    assert waits == [0.2]


def test_a_write_that_may_have_been_carried_out_is_repeated_only_with_a_key(waits: list[float]) -> None:
    seen, answer = served(httpx.ReadTimeout("silent"), httpx.Response(201, json={}))
    with pytest.raises(NoConnection, match="http://there did not answer: silent"):
        client(answer).api("POST", "runs/r/cancel/")
    assert len(seen) == 1
    seen, answer = served(httpx.ReadTimeout("silent"), httpx.Response(201, json={}))
    assert client(answer).api("POST", "experiments/", body={}, key=True).status == 201
    assert len(seen) == 2
    seen, answer = served(httpx.ConnectError("refused"), httpx.Response(200, json={}))
    assert client(answer).api("POST", "runs/r/cancel/").status == 200, "it was never sent"


def test_attempts_end_after_their_number_and_their_budget() -> None:
    get = call("GET", "/api/")
    attempts = Attempts(Retry(attempts=3, longest_s=0.3), get, lambda: 0.0)
    assert [attempts.after_answer(503, {}, NOW) for _ in range(4)] == [0.1, 0.15, None, None]
    assert Attempts(Retry(budget_s=5), get, lambda: 0.0).after_answer(429, {"retry-after": "6"}, NOW) is None
    assert Attempts(Retry(), get, lambda: 0.0).after_answer(404, {"retry-after": "1"}, NOW) is None
    busy = call("POST", "/api/", key=True), call("POST", "/api/")
    assert [Attempts(Retry(), one, lambda: 0.0).after_answer(409, {"retry-after": "1"}, NOW) for one in busy] == [
        1.1,
        None,
    ]


def test_retry_after_is_a_number_or_a_date() -> None:
    later = format_datetime(NOW + timedelta(seconds=90), usegmt=True)
    for text, seconds in (
        ("12", 12.0),
        (later, 90.0),
        ("Fri, 01 Jan 1999 00:00:00 GMT", 0.0),
        ("soon", None),
        ("1 Jan 99999999999 00:00:00 GMT", None),
        ("Mon, 01 Jan 2001 00:00:00 +99999999999999", None),
        ("", None),
    ):
        assert retry_after({"retry-after": text}, NOW) == seconds, text


def test_the_last_refusal_is_the_error(waits: list[float]) -> None:
    _, answer = served(*[httpx.Response(429, json=REFUSED, headers={"Retry-After": "1"})] * 2)
    with pytest.raises(TooMany) as refused:
        client(answer, retry=Retry(attempts=2)).runs.get("r")
    assert (refused.value.status, refused.value.code, refused.value.headers["retry-after"]) == (429, "throttled", "1")


def test_lists_follow_their_cursor_on_the_server_that_was_asked() -> None:
    pages = [
        {"results": [{"id": "a"}, {"id": "b"}], "next": "https://front.internal/api/runs/?cursor=x%3D&state=done"},
        {"results": [{"id": "c"}], "next": None},
    ]
    seen, answer = served(*(httpx.Response(200, json=page) for page in pages))
    found = client(answer).runs.list(state="done")
    assert [run.id for run in found] == ["a", "b", "c"]
    assert [str(one.url) for one in seen] == [
        "http://there/api/runs/?page_size=100&state=done&cursor=",
        "http://there/api/runs/?cursor=x%3D&state=done",
    ]
    seen, answer = served(httpx.Response(200, json=pages[0]))
    assert [run.id for run in client(answer).runs.list(limit=1)] == ["a"]


def test_a_wait_ends_when_all_are_over_and_tells_what_it_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waxwing._sync.waits.time.sleep", lambda seconds: None)
    states = iter(["queued", "measuring", "done"])
    looks: list[list[str]] = []
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.raw_path.decode())
        if request.url.path == "/api/runs/":
            rows = [{"id": "a", "state": next(states)}, {"id": "b", "state": "failed"}]
            return httpx.Response(200, json={"results": rows, "next": None})
        state = next(states) if request.url.path == "/api/runs/a/" else "failed"
        return httpx.Response(200, json={"id": request.url.path[-2], "state": state, "summary": {"p95": 1}})

    runs = client(answer).runs.wait(["a", "b", "a"], progress=lambda seen: looks.append([one.state for one in seen]))
    assert looks == [["queued", "failed"], ["measuring", "failed"], ["done", "failed"]]
    assert [(run.state, run.summary) for run in runs] == [("done", {"p95": 1}), ("failed", {"p95": 1})]
    assert asked == [
        "/api/runs/?page_size=2&q=id+in+%28a%2C+b%29&cursor=",
        "/api/runs/b/",
        "/api/runs/a/",
        "/api/runs/a/",
    ]
    with pytest.raises(NotInTime):
        client(lambda request: httpx.Response(200, json={"state": "queued"})).runs.wait(["a"], timeout_s=0)


SHOWN = httpx.Response(200, json={"id": "r"})


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_reading_follows_redirects_within_the_server_with_the_token(status: int) -> None:
    there = ["/api/runs/s/?x=1", "http://there:80/api/runs/t/", "../u/#place"]
    seen, answer = served(*(httpx.Response(status, headers={"Location": one}) for one in there), SHOWN)
    assert client(answer).runs.get("r").id == "r"
    urls = ["http://there/api/runs/r/", "http://there/api/runs/s/?x=1", "http://there/api/runs/t/"]
    assert [str(one.url) for one in seen] == [*urls, "http://there/api/runs/u/"]
    assert {one.headers["Authorization"] for one in seen} == {"Bearer secret"}


@pytest.mark.parametrize(
    "location",
    ["https://there/api/", "http://there:81/api/", "http://other/api/", "//other/", "http://there@other/", "ftp://there/"],
)  # fmt: skip
def test_a_redirect_to_another_server_is_an_error_that_names_it_and_sends_nothing(location: str) -> None:
    seen, answer = served(*[httpx.Response(302, headers={"Location": location})] * 2)
    for ask in (lambda: client(answer).runs.get("r"), lambda: next(client(answer).context("n").watch())):
        with pytest.raises(Redirected, match="the token is for this server only"):
            ask()
    assert {one.url.host for one in seen} == {"there"} and len(seen) == 2


def test_a_redirect_to_no_address_and_a_deeply_nested_refusal_are_errors() -> None:
    for answered, error in (
        (httpx.Response(302, headers={"Location": "http://[x/"}), Redirected),
        (httpx.Response(400, content=b"[" * 100_000), ApiError),
    ):
        with pytest.raises(error):
            client(served(answered)[1]).runs.get("r")


def test_a_change_does_not_follow_redirects_and_a_circle_ends() -> None:
    seen, answer = served(httpx.Response(307, headers={"Location": "/api/networks/m/"}))
    with pytest.raises(Redirected, match=r"POST http://there/api/networks/ .* only what reads"):
        client(answer).networks.create("n")
    assert len(seen) == 1
    seen, answer = served(*[httpx.Response(302, headers={"Location": "/api/runs/r/"})] * 9)
    with pytest.raises(Redirected, match="again and again"):
        client(answer).runs.get("r")
    assert len(seen) == 6


ZIPPED = {"Content-Encoding": "gzip"}


def test_what_is_not_this_api_is_an_error_not_a_traceback() -> None:
    page = httpx.Response(200, html="<html>Log in</html>")
    for answered, ask in (
        (page, lambda one: one.runs.get("r")),
        (page, lambda one: one.runs.list()),
        (page, lambda one: next(one.context("n").watch())),
        (httpx.Response(200, json=[]), lambda one: one.runs.get("r")),
        (httpx.Response(200, json={"data": []}), lambda one: one.runs.list()),
        (httpx.Response(304), lambda one: one.runs.get("r")),
        (httpx.Response(200, content=b"[" * 100_000), lambda one: one.runs.get("r")),
        (httpx.Response(200, stream=httpx.ByteStream(b"no"), headers=ZIPPED), lambda one: one.runs.get("r")),
    ):
        with pytest.raises(UnexpectedAnswer):
            ask(client(served(answered)[1]))


def test_what_cannot_be_sent_is_refused_before(waits: list[float]) -> None:
    seen, answer = served()
    for ask in (
        lambda one: one.runs.get(""),
        lambda one: one.runs.get("\ud800"),
        lambda one: one.context("n").get("room", "", "temp"),
        lambda one: one.context("n").get("room", "r1", "temp", wait_s=float("nan")),
        lambda one: one.experiments.create({"name": "\ud800"}),
        lambda one: one.experiments.create({"seed": float("nan")}),
        lambda one: one.api("GET", "http://other/api/runs/"),
        lambda one: one.api("GET", "/", headers={"X-A": "\u20ac"}),
    ):
        with pytest.raises(InvalidMessage):
            ask(client(answer))
    assert (seen, waits) == ([], [])


def test_an_operation_is_named_as_it_was_copied() -> None:
    seen, answer = served(*[SHOWN] * 6)
    for path in ("/", "runs/?state=done", "/api/runs/?state=done", "http://there/api/runs/?state=done", "%2E%2E/"):
        client(answer).api("GET", path, query={"page": 1})
    assert [one.url.raw_path for one in seen] == [
        b"/api/?page=1",
        *[b"/api/runs/?state=done&page=1"] * 3,
        b"/api/%2E%2E/?page=1",
    ]
    client(answer).runs.get("..")
    assert seen[-1].url.raw_path == b"/api/runs/%2E%2E/"


def event(number: int) -> str:
    data = json.dumps({"type": "room", "entity": f"r{number}", "scope": "temp", "text": "n=1"})
    return f"id: {number}\nevent: stored\ndata: {data}\n\n"


def test_a_watch_goes_on_where_it_was_when_its_connection_breaks(waits: list[float]) -> None:
    streams = [f"retry: 3000\n: hello\n\n{event(1)}{event(2)}id: 3\ndata: cut", event(3) + event(4)]
    seen, answer = served(
        *(httpx.Response(200, text=text, headers={"Content-Type": "text/event-stream"}) for text in streams)
    )
    changes = list(islice(client(answer).context("n").watch(type="room"), 4))
    assert [(one.id, one.kind, one.context.entity) for one in changes] == [
        (str(n), "stored", f"r{n}") for n in (1, 2, 3, 4)
    ]
    assert [one.headers.get("Last-Event-ID") for one in seen] == [None, "2"]
    assert str(seen[0].url) == "http://there/api/networks/n/stream/?type=room"
    assert waits == [3.0]


RESET = "id: 9\nevent: reset\ndata: {}\n\n"


def test_a_watch_with_a_snapshot_begins_again_with_what_there_is_after_a_reset(waits: list[float]) -> None:
    kind = {"Content-Type": "text/event-stream"}
    streams = [event(1) + RESET + event(10), event(2)]
    for snapshot, resumed, last in ((True, None, ["1", "9", "2"]), (False, "10", ["1", "9", "10", "2"])):
        seen, answer = served(*(httpx.Response(200, text=text, headers=kind) for text in streams))
        watch = client(answer).context("n").watch(snapshot=snapshot)
        assert [one.id for one in islice(watch, len(last))] == last
        assert seen[1].headers.get("Last-Event-ID") == resumed
        assert [one.url.params.get("snapshot") for one in seen] == (["true", "true"] if snapshot else [None, None])


def test_a_watch_of_several_subscriptions_asks_again_for_those_that_have_not_ended(waits: list[float]) -> None:
    """A server refuses a stream of one that it no longer has."""
    kind = {"Content-Type": "text/event-stream"}
    ends = [f'id: 1-{at}\nevent: ended\ndata: {{"subscription": "{id}"}}\n\n' for at, id in enumerate("ab")]
    seen, answer = served(*(httpx.Response(200, text=text, headers=kind) for text in ends))
    assert [one.subscription for one in client(answer).pubsub("n").watch(["a", "b"])] == ["a", "b"]
    assert [one.url.params["subscription"] for one in seen] == ["a,b", "b"]


def test_a_watch_ends_with_what_the_server_refuses_and_after_too_many_failures(waits: list[float]) -> None:
    _, answer = served(httpx.Response(404, json={**REFUSED, "code": "not_found"}))
    with pytest.raises(NotFound):
        next(client(answer).context("n").watch())
    _, answer = served(*[httpx.ConnectError("refused")] * 3)
    with pytest.raises(NoConnection):
        next(client(answer, retry=Retry(attempts=3)).context("n").watch())
    assert waits == [0.5, 1.0]


def test_events_are_read_as_the_standard_says() -> None:
    reader = EventReader("0")
    text = ": comment\ndata: a\ndata:b\nid: 7\nretry: x\nunknown: y\n\ndata\n\nid: 8\n\nevent: e\ndata: c\nid: n\0l\n\n"
    found = [one for line in text.split("\n") if (one := reader.feed(line))]
    assert found == [Event("message", "a\nb", "7"), Event("message", "", "7"), Event("e", "c", "8")]
    assert reader.retry_s is None
