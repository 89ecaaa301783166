"""The websocket of a run, through the real application with its checks of origin and session."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from channels.layers import get_channel_layer
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from brokerweb.accounts import services as accounts
from brokerweb.asgi import application
from brokerweb.experiments import services
from brokerweb.experiments.models import Run, RunState
from brokerweb.live import consumers
from brokerweb.live.snapshots import framed, group_of
from brokerweb.topologies import services as topologies
from tests.pages.furniture import end, finish, measure
from tests.waiting import BOUND_S

pytestmark = pytest.mark.django_db(transaction=True)


def prepared(state: str = "measuring") -> tuple[Run, str]:
    """A run, and the session of a user who is logged in."""
    user = User.objects.create_superuser("olga", password="correct horse")
    ring = topologies.create(name="ring", kind="ring", brokers=3)
    body = {"name": "one", "topology": ring.id, "workload": {"providers": 2, "consumers": 4}}
    run = services.launch(services.create(body, user)).runs[0]
    run = {"measuring": measure, "done": finish, "queued": lambda one: one}[state](run)
    browser = Client()
    browser.force_login(user)
    return run, browser.cookies[settings.SESSION_COOKIE_NAME].value


class Listener(ApplicationCommunicator):
    """One websocket. Channels' own helper for this imports Daphne, which nothing here needs otherwise."""

    async def connect(self) -> bool:
        await self.send_input({"type": "websocket.connect"})
        answer: dict[str, Any] = await self.receive_output(timeout=BOUND_S)
        return answer["type"] == "websocket.accept"

    async def frame(self) -> dict[str, Any]:
        message = await self.receive_output(timeout=BOUND_S)
        assert message["type"] == "websocket.send", message
        frame: dict[str, Any] = json.loads(message["text"])
        return frame

    async def close_code(self) -> int:
        message = await self.receive_output(timeout=BOUND_S)
        assert message["type"] == "websocket.close", message
        return int(message["code"])

    async def leave(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1001})
        await self.wait(timeout=BOUND_S)


def listener(
    run_id: str,
    session: str = "",
    origin: str = "http://localhost",
    token: str = "",
    host: str = "localhost",
    scheme: str = "ws",
) -> Listener:
    headers = [(b"host", host.encode())]
    if origin:
        headers.append((b"origin", origin.encode()))
    if token:
        headers.append((b"authorization", f"Bearer {token}".encode()))
    if session:
        headers.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={session}".encode()))
    scope = {
        "type": "websocket",
        "scheme": scheme,
        "path": f"/ws/runs/{run_id}/",
        "query_string": b"",
        "headers": headers,
    }
    return Listener(application, {**scope, "subprotocols": []})


async def test_a_page_opened_late_is_whole_at_once() -> None:
    run, session = await sync_to_async(prepared)()
    socket = listener(run.id, session)
    assert await socket.connect()
    frame = await socket.frame()
    assert frame["state"] == "measuring"
    assert frame["latency"]["p95"] > 0
    assert len(frame["memory"]["brokers"]) == 3
    assert len(frame["series"]["t"]) > 10
    assert any(event["name"] == "phase" for event in frame["events"])
    assert {event["kind"] for event in frame["happened"]} == {"phase"}
    assert frame["totals"]["private_bytes"] == sum(row["uss_bytes"] for row in frame["memory"]["brokers"])
    assert frame["series"]["broker_cores"][-1] == pytest.approx(0.3)  # three brokers at a tenth of a core
    await socket.leave()


async def test_frames_of_the_feed_arrive_and_the_end_closes_normally() -> None:
    run, session = await sync_to_async(prepared)("queued")
    socket = listener(run.id, session)
    await socket.connect()
    first = await socket.frame()
    assert first["state"] == "queued"
    layer: Any = get_channel_layer()
    seq = first["seq"] + 60_000
    frame = {"seq": seq, "state": "measuring", "progress": 0.5}
    # One that the first look overtook would show an older picture after a newer one.
    await layer.group_send(group_of(run.id), {"type": "snapshot", "frame": framed({**frame, "seq": first["seq"] - 1})})
    await layer.group_send(group_of(run.id), {"type": "snapshot", "frame": framed(frame)})
    assert (await socket.frame())["seq"] == seq
    await layer.group_send(
        group_of(run.id), {"type": "snapshot", "frame": framed({**frame, "seq": seq + 1, "state": "done"})}
    )
    assert (await socket.frame())["state"] == "done"
    assert await socket.close_code() == 1000
    await socket.leave()


async def test_without_a_feed_the_end_is_seen_all_the_same() -> None:
    run, session = await sync_to_async(prepared)("queued")
    socket = listener(run.id, session)
    await socket.connect()
    await socket.frame()
    await sync_to_async(end)(run, RunState.FAILED, "The worker went away.")
    while (frame := await socket.frame())["state"] != "failed":
        pass
    assert frame["reason"] == "The worker went away."
    assert await socket.close_code() == 1000
    await socket.leave()


async def test_a_finished_run_is_shown_once_and_closed() -> None:
    run, session = await sync_to_async(prepared)("done")
    socket = listener(run.id, session)
    await socket.connect()
    frame = await socket.frame()
    assert frame["state"] == "done"
    assert frame["series"]["p50"]
    assert await socket.close_code() == 1000
    await socket.leave()


async def test_who_is_not_logged_in_is_told_so() -> None:
    run, _ = await sync_to_async(prepared)()
    socket = listener(run.id)
    await socket.connect()
    assert await socket.close_code() == 4401
    await socket.leave()


async def test_a_run_there_is_not_is_told_so() -> None:
    _, session = await sync_to_async(prepared)()
    socket = listener("nothing", session)
    await socket.connect()
    assert await socket.close_code() == 4404
    await socket.leave()


async def test_a_page_of_another_origin_gets_nothing() -> None:
    run, session = await sync_to_async(prepared)()
    socket = listener(run.id, session, origin="http://elsewhere.example")
    assert not await socket.connect()


async def test_a_program_comes_in_by_its_token_until_that_is_revoked() -> None:
    run, _ = await sync_to_async(prepared)()
    token, text = await sync_to_async(accounts.make_token)(await User.objects.aget(), name="watch", scope="read")
    socket = listener(run.id, origin="", token=text)
    assert await socket.connect()
    assert (await socket.frame())["state"] == "measuring"
    await socket.leave()
    await sync_to_async(accounts.revoke)(token)
    socket = listener(run.id, origin="", token=text)
    await socket.connect()
    assert await socket.close_code() == 4401
    await socket.leave()


def logged_out(user: User, session: str) -> None:
    browser = Client()
    browser.cookies[settings.SESSION_COOKIE_NAME] = session
    assert browser.post("/logout/").status_code == 302


def disabled(user: User, session: str) -> None:
    user.is_active = False
    user.save()


def deleted(user: User, session: str) -> None:
    user.delete()


def with_another_password(user: User, session: str) -> None:
    user.set_password("correct donkey")
    user.save()


def with_no_password(user: User, session: str) -> None:
    user.set_unusable_password()
    user.save()


@pytest.mark.parametrize("ended", [logged_out, disabled, deleted, with_another_password, with_no_password])
@pytest.mark.parametrize("by", ["session", "token"])
async def test_who_may_no_longer_look_is_cut_off_within_seconds(
    ended: Callable[[User, str], None], by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "LOOK_AFTER_S", 0.05)
    monkeypatch.setattr(consumers, "CHECK_USER_S", 0.05)
    run, session = await sync_to_async(prepared)()
    user = await User.objects.aget()
    _, token = await sync_to_async(accounts.make_token)(user, name="watch", scope="read")
    socket = listener(run.id, session) if by == "session" else listener(run.id, origin="", token=token)
    assert await socket.connect()
    assert (await socket.frame())["state"] == "measuring"
    await sync_to_async(ended)(user, session)
    frames = 0
    while (message := await socket.receive_output(timeout=BOUND_S))["type"] == "websocket.send":
        if (frames := frames + 1) > 20:
            break
    is_cut = (message["type"], message.get("code")) == ("websocket.close", 4401)
    assert is_cut == ((ended, by) != (logged_out, "token"))  # a token is not what the browser logs out
    await socket.leave()


def test_a_viewer_who_has_left_is_cut_off_within_five_seconds() -> None:
    assert consumers.LOOK_AFTER_S + consumers.CHECK_USER_S < 5


@pytest.mark.parametrize(
    ("origin", "host", "scheme", "comes_in"),
    [
        ("http://localhost:8000", "localhost:8000", "ws", True),
        ("http://LOCALHOST:80", "localhost", "ws", True),
        ("https://localhost", "localhost", "wss", True),
        ("http://[::1]:8000", "[::1]:8000", "ws", True),
        ("", "localhost", "ws", True),
        ("http://localhost:9000", "localhost:8000", "ws", False),
        ("http://localhost", "localhost:8000", "ws", False),
        ("https://localhost:8000", "localhost:8000", "ws", False),
        ("http://localhost:8000", "localhost:8000", "wss", False),
        ("http://127.0.0.1:8000", "localhost:8000", "ws", False),
        ("http://elsewhere.example", "elsewhere.example", "ws", False),
        ("null", "localhost", "ws", False),
        ("http://localhost:x", "localhost", "ws", False),
        ("file://", "localhost", "ws", False),
    ],
)
async def test_a_page_comes_in_from_its_own_scheme_host_and_port(
    origin: str, host: str, scheme: str, comes_in: bool
) -> None:
    run, session = await sync_to_async(prepared)("done")
    socket = listener(run.id, session, origin=origin, host=host, scheme=scheme)
    assert await socket.connect() == comes_in
    if comes_in:
        await socket.leave()


@pytest.mark.parametrize("run_id", ["%00", "x" * 500, "a/b", "\U0001f600", ".."])
async def test_an_address_that_is_none_is_told_so(run_id: str) -> None:
    socket = listener(run_id)
    await socket.connect()
    assert await socket.close_code() == 4404
    await socket.leave()


async def test_what_a_viewer_says_is_not_heard() -> None:
    run, session = await sync_to_async(prepared)("queued")
    socket = listener(run.id, session)
    await socket.connect()
    for said in ({"text": "x" * 100_000}, {"text": "{"}, {"bytes": b"\x00\xff"}):
        await socket.send_input({"type": "websocket.receive", **said})
    assert (await socket.frame())["state"] == "queued"
    await socket.leave()
