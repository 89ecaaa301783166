"""Refused requests: unknown methods, too large bodies, too many requests."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any, Self

import httpx
import pytest
import uvicorn
from channels.routing import ProtocolTypeRouter
from django.contrib.auth.hashers import MD5PasswordHasher
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import URLResolver, get_resolver
from redis.exceptions import RedisError
from rest_framework.test import APIClient
from websockets.sync.client import connect

from brokerweb.accounts.lockout import PASSWORDS_CHECKED, password_throttle
from brokerweb.accounts.services import make_token
from brokerweb.asgi import application
from brokerweb.body_limits import BodyLimit, Limits
from brokerweb.kit.cache_breaker import CacheBreaker
from brokerweb.kit.throttles import Windows, host_of
from brokerweb.up.parts import house
from overlay.runtime.redis_server import free_port
from tests.thorough import thoroughly
from tests.waiting import BOUND_S, wait_for

MOST = 10_000_000
AWAY = {"BACKEND": "django.core.cache.backends.redis.RedisCache"}


@contextmanager
def served(application: Any) -> Iterator[httpx.Client]:
    """An application behind the server of ``make up``."""
    [command] = [part.command for part in house(8000, "here") if part.name == "web"]
    http = command[command.index("--http") + 1]
    server = uvicorn.Server(uvicorn.Config(application, port=0, log_level="critical", http=http))
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_for(lambda: server.started, "the server listens")
    port = server.servers[0].sockets[0].getsockname()[1]
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=BOUND_S) as client:
        yield client
    server.should_exit = True
    thread.join()


@pytest.fixture
def web() -> Iterator[httpx.Client]:
    """The web process's application behind its real server."""
    with served(application) as client:
        yield client


@pytest.mark.django_db
@pytest.mark.parametrize(
    "address",
    ["/", "/login/", "/runs/", "/runs/x/cancel/", "/admin/", "/admin/login/", "/nowhere/", "/ws/runs/x/", "/metrics",
     "/api/", "/api/runs/", "/api/tokens/", "/api/schema/", "/api/nowhere/", "/static/css/waxwing.css", "/static/no"],
)  # fmt: skip
def test_trace_is_taken_nowhere(address: str, operator: User) -> None:
    logged_in, stranger = Client(), Client()
    logged_in.force_login(operator)
    for browser in (logged_in, stranger):
        answer = browser.trace(address)
        assert answer.status_code == 405
        assert "GET" in answer["Allow"]
        assert "TRACE" not in answer["Allow"]


@pytest.mark.django_db
def test_a_method_that_no_address_takes_is_refused_as_rest_refuses(operator: User) -> None:
    refused = Client().generic("PROPFIND", "/api/runs/")
    assert (refused.status_code, refused.json()["code"]) == (405, "method_not_allowed")
    assert refused.json()["sentence"] == "Method PROPFIND is not supported."
    assert "PATCH" in refused["Allow"]


def test_the_server_takes_no_trace_either(web: httpx.Client) -> None:
    for address in ("/", "/static/css/waxwing.css", "/api/runs/", "/ws/runs/x/"):
        answer = web.request("TRACE", address, headers={"Cookie": "sessionid=secret"})
        assert answer.status_code == 405
        assert "secret" not in answer.text


def chunks(total: int) -> Iterator[bytes]:
    for _ in range(total // 100_000):
        yield b"x" * 100_000


@pytest.mark.parametrize("address", ["/api/tokens/", "/login/", "/static/css/waxwing.css"])
@pytest.mark.parametrize("body", [b"x" * (MOST + 1), chunks(MOST + 200_000)], ids=["told", "chunked"])
def test_a_body_that_is_too_large_is_refused_with_the_limit(web: httpx.Client, address: str, body: Any) -> None:
    body = chunks(MOST + 200_000) if not isinstance(body, bytes) else body
    answer = web.post(address, content=body)
    assert answer.status_code == 413
    assert "10,000,000 bytes" in answer.text
    if address.startswith("/api/"):
        assert answer.json()["code"] == "too_large"
    assert web.get("/healthz").json()["alive"]  # on the same connection


def test_a_body_that_says_it_is_too_large_is_refused_before_it_is_sent(web: httpx.Client) -> None:
    at = (web.base_url.host, web.base_url.port)
    with socket.create_connection(at, timeout=BOUND_S) as connection:
        head = f"POST /api/tokens/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {10**12}\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(65_536).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    "first", ["GET /healthz", "PUT /api/networks/n/context/a/b/c/", "GET /api/networks/n/context/a/b/c/"]
)
def test_what_follows_a_body_with_two_ends_is_no_request(web: httpx.Client, first: str) -> None:
    hidden = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    ends = f"Content-Length: {5 + len(hidden)}\r\nTransfer-Encoding: chunked"
    answers = b""
    with socket.create_connection((web.base_url.host, web.base_url.port), timeout=BOUND_S) as connection:
        connection.sendall(f"{first} HTTP/1.1\r\nHost: 127.0.0.1\r\n{ends}\r\n\r\n0\r\n\r\n{hidden}".encode())
        while more := connection.recv(65_536):
            answers += more
    assert answers.startswith(b"HTTP/1.1 400 ")
    assert answers.count(b"HTTP/1.1 ") == 1


Message = dict[str, Any]


async def page(_: Any, receive: Any, send: Any) -> None:
    """Reads a body as Django does, and answers nothing who has gone."""
    message = {"more_body": True}
    while message.get("more_body"):
        message = await receive()
        if message["type"] == "http.disconnect":
            return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"read"})


class Sender:
    """A client that sends a body in pieces, and the response."""

    def __init__(self, limit: BodyLimit, host: str) -> None:
        self._pieces: asyncio.Queue[Message] = asyncio.Queue()
        self._answer: list[Message] = []
        scope = {"path": "/api/tokens/", "headers": [], "client": (host, 1)}
        self._task = asyncio.create_task(limit(scope, self._pieces.get, self._take))

    def sends(self, body: bytes, *, more: bool = False) -> Self:
        self._pieces.put_nowait({"type": "http.request", "body": body, "more_body": more})
        return self

    async def _take(self, message: Message) -> None:
        self._answer.append(message)

    async def answer(self) -> tuple[int, dict[bytes, bytes], bytes]:
        await self._task
        return self._answer[0]["status"], dict(self._answer[0]["headers"]), self._answer[1]["body"]


def test_a_body_that_does_not_end_is_not_waited_for() -> None:
    async def story() -> None:
        limit = BodyLimit(page, Limits(size=100, seconds=0.01, at_once=2, of_one_address=1))
        for _ in range(3):  # each gives its place back
            status, headers, said = await Sender(limit, "192.0.2.7").sends(b"x", more=True).answer()
            assert (status, headers[b"connection"]) == (408, b"close")
            assert json.loads(said)["code"] == "too_slow"
            assert "longer than the limit of 0.01 s" in json.loads(said)["sentence"]
        assert (await Sender(limit, "192.0.2.7").answer())[0] == 408  # one that does not begin

    asyncio.run(story())


def test_few_bodies_are_on_their_way_at_once_and_fewer_of_one_address() -> None:
    async def story() -> None:
        limit = BodyLimit(page, Limits(size=100, seconds=1_000, at_once=3, of_one_address=2))
        first, second, third, other, last = senders = [Sender(limit, f"192.0.2.{host}") for host in (7, 7, 7, 8, 9)]
        for sender in senders:
            sender.sends(b"x", more=True)
        for sender in (third, last):
            status, headers, said = await sender.answer()
            assert (status, headers[b"retry-after"], json.loads(said)["code"]) == (503, b"5", "too_many")
        assert (await Sender(limit, "192.0.2.9").sends(b"in one piece").answer())[0] == 200
        assert (await first.sends(b"the end").answer())[0] == 200
        again = Sender(limit, "192.0.2.7").sends(b"x", more=True).sends(b"the end")
        assert [(await sender.answer())[0] for sender in (again, second.sends(b""), other.sends(b""))] == [200] * 3

    asyncio.run(story())


def test_what_never_ends_is_hung_up_on_and_what_takes_long_is_not(settings: Any) -> None:
    settings.HEAD_SECONDS = 1  # which those that come at once have on a busy machine, too
    asked = asyncio.Event()

    async def stream(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/on/":
            asked.set()
        if scope["path"] == "/events/":
            await receive()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"begun ", "more_body": True})
            await asked.wait()
            await send({"type": "http.response.body", "body": b"and ended"})
        else:
            await page(scope, receive, send)

    async def echo(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": message["text"]})

    limits = Limits(size=100, seconds=0.05, at_once=2, of_one_address=2)
    with served(ProtocolTypeRouter({"http": BodyLimit(stream, limits), "websocket": echo})) as web:
        at = (web.base_url.host, web.base_url.port)
        with connect(f"ws://{at[0]}:{at[1]}/", open_timeout=BOUND_S) as live, web.stream("GET", "/events/") as events:
            heads = ("", "POST / HTTP/1.1\r\nHost: a", "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET")
            unfinished = [socket.create_connection(at, timeout=BOUND_S) for _ in heads]
            for connection, head in zip(unfinished, heads, strict=True):
                connection.sendall(head.encode())
            for connection in unfinished:
                with connection:
                    while connection.recv(65_536):
                        pass
            with socket.create_connection(at, timeout=BOUND_S) as connection:
                connection.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345")
                assert connection.recv(65_536).startswith(b"HTTP/1.1 408 ")
            live.send("still here")
            assert live.recv(timeout=BOUND_S) == "still here"
            assert httpx.get(web.base_url.join("/on/"), timeout=BOUND_S).text == "read"
            assert events.read() == b"begun and ended"


@pytest.mark.django_db
def test_a_token_that_asks_too_often_is_told_when_to_come_back(operator: User, settings: Any) -> None:
    settings.REST_WINDOW_S, settings.REST_RATE = 10**6, 3 / 10**6
    mine, other = (make_token(operator)[1] for _ in range(2))
    client = APIClient()
    for token in (mine, other):
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
        assert [client.get("/api/tags/").status_code for _ in range(5)] == [200, 200, 200, 429, 429]
    refused = client.get("/api/tags/")
    assert 0 < int(refused["Retry-After"]) <= 10**6
    assert refused.json()["code"] == "throttled"
    browser = Client()
    browser.force_login(operator)
    assert [browser.get("/api/tags/").status_code for _ in range(4)] == [200, 200, 200, 429]


@pytest.mark.django_db
def test_an_address_is_throttled_whoever_asks_and_pages_and_health_are_not(settings: Any) -> None:
    settings.REST_WINDOW_S, settings.REST_ADDRESS_RATE = 10**6, 3 / 10**6
    stranger = APIClient(REMOTE_ADDR="192.0.2.7")
    stranger.credentials(HTTP_AUTHORIZATION="Bearer guess")
    assert [stranger.get("/api/tags/").status_code for _ in range(5)] == [401, 401, 401, 429, 429]
    refused = stranger.get("/api/tags/")
    assert int(refused["Retry-After"]) > 0
    assert "Try again in" in refused.json()["sentence"]
    assert stranger.get("/healthz").status_code == 200
    assert stranger.get("/login/").status_code == 200
    assert APIClient(REMOTE_ADDR="192.0.2.8").get("/api/tags/").status_code == 401


@pytest.mark.django_db
def test_a_noisy_token_and_a_guesser_use_up_nobody_elses_budget(operator: User, viewer: User, settings: Any) -> None:
    settings.REST_WINDOW_S, settings.REST_RATE, settings.REST_ADDRESS_RATE = 10**6, 3 / 10**6, 5 / 10**6
    noisy, quiet, stranger = (APIClient(REMOTE_ADDR="192.0.2.9") for _ in range(3))
    for client, user in ((noisy, operator), (quiet, viewer)):
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {make_token(user)[1]}")
    stranger.credentials(HTTP_AUTHORIZATION="Bearer guess")
    assert [noisy.get("/api/tags/").status_code for _ in range(9)] == [200] * 3 + [429] * 6
    assert [stranger.get("/api/tags/").status_code for _ in range(7)] == [401] * 5 + [429] * 2
    refused = quiet.post("/api/topologies/", {}, format="json").status_code  # counts, whatever is answered
    assert [refused, *(quiet.get(f"/api/{path}/").status_code for path in ("tags", "no", "tags"))] == [
        403,
        200,
        404,
        429,
    ]


@pytest.mark.django_db
def test_log_ins_of_any_name_are_bounded_by_address(operator: User, settings: Any) -> None:
    settings.REST_WINDOW_S, settings.LOG_IN_RATE = 10**6, 4 / 10**6
    guesser, other = (APIClient(REMOTE_ADDR=f"192.0.2.{host}") for host in (17, 18))
    names = [{"username": f"nobody{number}", "password": "guess"} for number in range(3)]
    assert [guesser.post("/api/tokens/", name, format="json").status_code for name in names] == [401] * 3
    codes = [guesser.post(address, names[0]).status_code for address in ("/login/", "/admin/login/", "/login/")]
    assert codes == [200, 429, 429]
    refused = guesser.post("/api/tokens/", names[0], format="json")
    assert (refused.status_code, refused.json()["code"]) == (429, "throttled")
    assert "Too many login attempts from this address. Try again in" in refused.json()["sentence"]
    assert int(refused["Retry-After"]) > 0
    assert guesser.get("/login/").status_code == 200
    right = {"username": "olga", "password": "correct horse"}
    assert other.post("/api/tokens/", right, format="json").status_code == 201


def test_passwords_are_checked_one_at_a_time_and_few_wait(settings: Any) -> None:
    running, most, end = 0, 0, threading.Event()

    def check(_: HttpRequest) -> HttpResponse:
        nonlocal running, most
        running += 1
        most = max(most, running)
        end.wait()
        running -= 1
        return HttpResponse()

    door = password_throttle(check)
    asks = [RequestFactory().post("/api/tokens/") for _ in range(settings.PASSWORD_CHECKS_WAITING + 1)]
    with ThreadPoolExecutor(len(asks)) as threads:
        asked = [threads.submit(door, request) for request in asks]
        refused = next(as_completed(asked)).result()
        assert (refused.status_code, refused["Retry-After"]) == (429, "5")
        end.set()
        assert sorted(one.result().status_code for one in asked) == [200] * settings.PASSWORD_CHECKS_WAITING + [429]
    assert most == 1


hashed: list[str] = []


class Counted(MD5PasswordHasher):
    def encode(self, password: str, salt: str) -> str:
        hashed.append(password)
        return super().encode(password, salt)


def addresses(patterns: Any, before: str = "/") -> Iterator[str]:
    """Those that name nothing."""
    for one in patterns:
        here = before + str(one.pattern).lstrip("^").removesuffix("$").removesuffix(r"\Z")
        if isinstance(one, URLResolver):
            yield from addresses(one.url_patterns, here)
        elif not set(here) & set("<(["):
            yield here


@thoroughly
@pytest.mark.django_db
def test_wherever_a_password_is_checked_is_known(viewer: User, settings: Any) -> None:
    settings.PASSWORD_HASHERS = [f"{__name__}.Counted"]
    name = {"username": "nobody", "password": "guess"}
    form = {**name, "old_password": "guess", "new_password1": "a"}
    found = set()
    for address in set(addresses(get_resolver().url_patterns)):
        browser, logged_in = APIClient(raise_request_exception=False), APIClient(raise_request_exception=False)
        logged_in.force_login(viewer)
        hashed.clear()
        browser.post(address, name, format="json")
        for client in (browser, logged_in):
            client.post(address, form)
        found |= {address} if hashed else set()
    assert found == PASSWORDS_CHECKED


@pytest.mark.parametrize(
    ("address", "who"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2::7", "2001:db8:1:2::"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::"),
        ("", ""),
    ],
)
def test_an_ipv6_host_is_throttled_under_all_its_addresses(address: str, who: str) -> None:
    assert host_of(address) == who


def test_a_cache_that_is_away_is_not_asked_again_at_once() -> None:
    now, asked = [0.0], []

    def freeze() -> None:
        asked.append(now[0])
        raise RedisError("no answer within 2 s")

    breaker = CacheBreaker("nothing is kept", clock=lambda: now[0])
    for now[0] in (0.0, 1.0, 4.9, 5.0, 6.0):
        assert breaker.call(freeze) is None
    assert asked == [0.0, 5.0]
    now[0] = 10.0
    assert breaker.call(lambda: "back") == "back"
    assert breaker.call(lambda: "still") == "still"


@pytest.mark.django_db
def test_health_is_told_without_tls_and_pages_are_not(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True  # as WAXWING_HTTPS=1 has it
    answers = {address: Client().get(address).status_code for address in ("/healthz", "/readyz", "/metrics", "/login/")}
    assert answers.pop("/login/") == 301
    assert 301 not in answers.values()


@pytest.mark.django_db
def test_while_the_cache_is_away_nobody_is_refused(settings: Any, operator: User) -> None:
    settings.CACHES = {"default": {**AWAY, "LOCATION": f"redis://127.0.0.1:{free_port()}/0"}}
    settings.REST_RATE = settings.REST_ADDRESS_RATE = 1e-9
    client = APIClient()
    client.force_authenticate(operator)
    assert [client.get("/api/tags/").status_code for _ in range(3)] == [200] * 3


def test_requests_are_counted_over_windows(settings: Any) -> None:
    settings.REST_WINDOW_S = 10
    windows = Windows()
    budgets = [windows.count("w", 0.2, now) for now in (1000, 1001, 1002.5, 1009)]
    told = [(one.left, one.reset_s, one.is_exceeded) for one in budgets if one]
    assert told == [(1, 10, False), (0, 9, False), (0, 7.5, True), (0, 1, True)]
    begun = windows.count("w", 0.2, 1010)
    assert begun and not begun.is_exceeded
    assert windows.count("w", 0, 1009) is None


@pytest.mark.django_db
def test_the_document_of_rest_says_when_to_come_back(client: Client) -> None:
    document = client.get("/api/schema/?format=json").json()
    operations = [
        operation for path in document["paths"].values() for operation in path.values() if "responses" in operation
    ]
    assert operations
    assert all("Retry-After" in operation["responses"]["429"]["headers"] for operation in operations)
