"""What is reported of processes, without any process."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from overlay.deployment import fleet
from overlay.deployment.fleet import Process
from overlay.runtime.deployment_status import Observed

ADDRESSES = [("127.0.0.1", 7000), ("127.0.0.1", 7001)]


def states(
    *processes: Process, is_alive: bool = True, away: Collection[int] = (), silent: Collection[str] = ()
) -> list[str]:
    by_name = {f"broker-{index}": process for index, process in enumerate(processes)}
    found = Observed(by_name, {"broker-0": 12}, is_alive, away, silent).servers(list(by_name), ADDRESSES)
    assert [(row["index"], row["address"]) for row in found] == [(i, f"127.0.0.1:700{i}") for i in range(len(found))]
    assert [row["pid"] for row in found] == [12, None][: len(found)]
    return [row["state"] for row in found]


@pytest.mark.parametrize(
    ("process", "alive", "ended"),
    [
        (Process(state=fleet.UP, since=0), "up", "up"),
        (Process(state=fleet.WAITING, since=0), "starting", "stopped"),
        (Process(state=fleet.WAITING, since=0, launches=2), "restarting", "stopped"),
        (Process(state=fleet.WAITING, since=0, launches=1, ended_well=True), "stopped", "stopped"),
        (Process(state=fleet.GIVEN_UP, since=0, launches=5), "failed", "failed"),
    ],
)
def test_the_state_of_a_process_is_shown_in_one_word(process: Process, alive: str, ended: str) -> None:
    assert states(process) == [alive]
    assert states(process, is_alive=False) == [ended]


def test_who_is_away_or_silent_is_so_only_while_the_deployment_goes_on() -> None:
    both = Process(state=fleet.UP, since=0), Process(state=fleet.UP, since=0)
    assert states(*both, away={1}) == ["up", "away"]
    assert states(*both, away={1}, is_alive=False) == ["up", "up"]
    assert states(*both, silent={"broker-0"}) == ["not answering", "up"]
    assert states(*both, silent={"broker-1"}, away={1}) == ["up", "away"]


def test_of_a_server_with_connections_it_is_said_what_its_clients_speak() -> None:
    up = Process(state=fleet.UP, since=0)
    found = Observed({"broker-0": up, "proxy-0": up}, {}, True, (), (), accepts={"proxy": "MQTT 3.1.1"})
    rows = found.servers(["broker-0", "proxy-0"], ADDRESSES)
    assert [row.get("accepts") for row in rows] == [None, "MQTT 3.1.1"]


def test_only_fleets_that_were_started_have_a_row() -> None:
    found = Observed({"consumers-0": Process(state=fleet.UP, since=0)}, {}, True, (), ())
    assert [row["name"] for row in found.fleets(["consumers-0", "consumers-1"])] == ["consumers-0"]
