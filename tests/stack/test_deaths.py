"""``kill -9`` of every part of the house while a run measures: it goes on, or ends with a reason; nothing stays."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosedOK
from websockets.sync.client import connect

from tests.stack.conftest import Home
from tests.stack.house import House, kill, stopped
from tests.stack.runs import ended, has_answers, is_ready, log_in, measuring, state_of
from tests.test_rest_journey import Api
from tests.thorough import thoroughly
from tests.waiting import BOUND_S, wait_for

pytestmark = pytest.mark.stack

Launch = Callable[[float], str]


def look(api: Api, run: str, frames: int) -> list[dict[str, Any]]:
    """What the live page of a run is sent from now on; fewer frames if the run ends before."""
    base = str(api.http.base_url).removesuffix("/api/")
    address, headers = f"{base.replace('http', 'ws', 1)}/ws/runs/{run}/", {"Cookie": log_in(api, base)}
    shown: list[dict[str, Any]] = []
    opened = connect(address, additional_headers=headers, origin=base, open_timeout=BOUND_S)
    with opened as socket, suppress(ConnectionClosedOK):
        while len(shown) < frames:
            shown.append(json.loads(socket.recv(timeout=BOUND_S)))
    return shown


def while_measuring(
    house: House, api: Api, launch: Launch, duration_s: float, act: Callable[[str], object]
) -> tuple[str, float]:
    """A run during which ``act`` was done, and for how long it measures: four times longer where that was too short."""
    run = measuring(api, launch(duration_s))
    act(run)
    if any(status["id"] == run and status["phase"] == "measuring" for status in house.deployments()):
        return run, duration_s
    ended(api, run)
    return while_measuring(house, api, launch, 4 * duration_s, act)


def test_a_run_goes_on_while_everything_around_it_dies(house: House, api: Api, launch: Launch) -> None:
    seen: list[Any] = []

    def kill_all_around_it(run: str) -> None:
        nodes = house.nodes()
        for parts in (("web", "livefeed", "beat"), ("redis",), ("worker",)):
            for part in parts:
                house.kill(part)
            wait_for(lambda: is_ready(api), f"it is ready without the former {parts}")
            wait_for(house.whole, f"it is whole without the former {parts}")
        house.kill("worker", wrapper=True)
        wait_for(house.whole, "it is whole with its second worker")
        seen[:] = [nodes, house.nodes(), *look(api, run, 3)]

    run, duration_s = while_measuring(house, api, launch, 60, kill_all_around_it)
    before, after, first, _, later = seen
    assert before == after, "no broker and no client noticed"
    assert first["state"] == "measuring"
    assert len(first["series"]["t"]) > 3, "a page that is opened late shows what was before"
    assert later["seq"] > first["seq"]

    found = ended(api, run)
    assert (found["state"], found["reason"]) == ("done", "")
    assert found["summary"]["requests"] == found["summary"]["answered"] == 5 * duration_s / 0.5
    assert not [reason for reason in found["verdict_reasons"] if reason.startswith(("Samples", "Requests"))]
    assert ended(api, launch(2))["state"] == "done"


def test_a_run_whose_supervisor_died_fails_with_the_reason(house: House, api: Api, launch: Launch) -> None:
    run, behind = measuring(api, launch(600)), launch(2)
    house.kill_supervisor()
    found = ended(api, run)
    assert found["state"] == "failed"
    assert "The supervisor of host" in found["reason"]
    assert "ended, and this run's brokers with it." in found["reason"]
    assert ended(api, behind)["state"] == "done"


def broker_pids(house: House) -> list[int]:
    return [broker["pid"] for status in house.deployments() for broker in status["brokers"] if broker["pid"]]


def test_a_run_that_lost_a_broker_goes_on_and_says_so(house: House, api: Api, launch: Launch) -> None:
    run, _ = while_measuring(house, api, launch, 8, lambda _: [kill(pid) for pid in broker_pids(house)[2:3]])
    found = ended(api, run)
    assert (found["state"], found["reason"], found["verdict"]) == ("done", "", "suspect")
    assert "Broker restarted while measuring: broker-2." in found["verdict_reasons"]


def test_a_broker_of_a_run_that_is_stopped_is_shown_as_not_answering(house: House, api: Api, launch: Launch) -> None:
    run = measuring(api, launch(600))
    with stopped(broker_pids(house)[2]):
        shown = wait_for(
            lambda: state_of_broker(api, run, 2) == "not answering" and look(api, run, 2)[-1], "it is shown"
        )
        assert [broker["state"] for broker in shown["brokers"]] == ["up", "up", "not answering", "up", "up"]
    wait_for(lambda: state_of_broker(api, run, 2) == "up", "it answers again")
    assert state_of(api, run) == "measuring"


def state_of_broker(api: Api, run: str, index: int) -> str:
    return str(api.get(f"/runs/{run}/brokers/")["results"][index]["state"])


def test_a_run_whose_broker_keeps_dying_is_given_up_on(house: House, api: Api, launch: Launch) -> None:
    run = measuring(api, launch(600))
    wait_for(lambda: has_answers(api, run), "something was measured")

    def killed_until_it_ended() -> bool:
        for pid in broker_pids(house)[:1]:
            with suppress(ProcessLookupError):  # it died of the last time, and is not yet started again
                kill(pid)
        return state_of(api, run) != "measuring"

    wait_for(killed_until_it_ended, "the run has ended")
    found = ended(api, run)
    assert found["state"] == "failed"
    assert "broker-0: restarted 5 times within 10 s, the last time it ended by: killed by SIGKILL" in found["reason"]
    assert found["summary"]["requests"] > 0, "what was measured until then is kept"


@thoroughly
def test_after_the_whole_house_was_killed_it_takes_up_what_it_left(home: Home, api: Api, launch: Launch) -> None:
    run, behind = measuring(api, launch(600)), launch(2)
    assert home.process is not None
    kill(home.process.pid)
    wait_for(lambda: not home.house.processes(), "everything went with it")
    home.process.wait()
    home.up()
    home.lead(api)
    found = ended(api, run)
    assert found["state"] == "failed"
    assert "The supervisor of host" in found["reason"]
    assert ended(api, behind)["state"] == "done"


@thoroughly
def test_a_report_that_was_broken_off_is_made_again_by_itself(home: Home, api: Api, launch: Launch) -> None:
    run = launch(1)
    assert ended(api, run)["state"] == "done"
    path = f"/reports/{api.post('/reports/', {'kind': 'comparison', 'runs': [run]})['id']}/"

    def computing() -> str:
        """When the current attempt began; ``None`` while it is queued, possibly shorter than a poll."""
        report = api.get(path)
        assert report["state"] in ("queued", "running"), report["reason"]
        return str(report["started_at"]) if report["state"] == "running" else ""

    first = wait_for(computing, "it is computed")
    home.house.kill("spark")
    wait_for(home.house.whole, "what the worker had started is gone")
    wait_for(lambda: computing() not in ("", first), "it is computed again")
    home.down()
    assert home.house.processes() == {}
    home.up()
    home.lead(api)
    report = api.wait(path, lambda report: report["state"] in ("done", "failed"))
    assert report["state"] == "done", report["reason"]
