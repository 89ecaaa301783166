"""The websocket of a run, through the real application with its checks of origin and session."""

from __future__ import annotations

import json
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
from brokerweb.live.snapshots import framed, group_of
from brokerweb.topologies import services as topologies
from tests.pages.furniture import end, finish, measure

pytestmark = pytest.mark.django_db(transaction=True)


def prepared(state: str = "measuring") -> tuple[Run, str]:
    """A run, and the session of somebody who is logged in."""
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
        answer: dict[str, Any] = await self.receive_output(timeout=10)
        return answer["type"] == "websocket.accept"

    async def frame(self) -> dict[str, Any]:
        message = await self.receive_output(timeout=10)
        assert message["type"] == "websocket.send", message
        frame: dict[str, Any] = json.loads(message["text"])
        return frame

    async def close_code(self) -> int:
        message = await self.receive_output(timeout=10)
        assert message["type"] == "websocket.close", message
        return int(message["code"])

    async def leave(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1001})
        await self.wait(timeout=10)


def listener(run_id: str, session: str = "", origin: str = "http://localhost", token: str = "") -> Listener:
    headers = [(b"host", b"localhost")]
    if origin:
        headers.append((b"origin", origin.encode()))
    if token:
        headers.append((b"authorization", f"Bearer {token}".encode()))
    if session:
        headers.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={session}".encode()))
    scope = {"type": "websocket", "path": f"/ws/runs/{run_id}/", "query_string": b"", "headers": headers}
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
