"""Profiles and switches on the command line, and a replica that follows its provider over real UDP."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.runtime.daemons import Daemon, overlay, ring
from tests.waiting import wait_for

R1 = ("--type", "room", "--id", "r1", "--scope", "climate")


def counter(daemon: Daemon, name: str) -> int:
    return json.loads(overlay("stats", daemon.text, "--json")[1])[name]


def put(daemon: Daemon, payload: str) -> None:
    assert overlay("put", daemon.text, "--provider", "p1", *R1, "--payload", payload)[0] == 0


def got(daemon: Daemon) -> str:
    return json.loads(overlay("get", daemon.text, *R1, "--json")[1])["text"]


def test_brokers_of_the_improved_profile_refresh_their_replicas(start_daemon: Callable[..., Daemon]) -> None:
    a, b = start_daemon("--profile", "improved"), start_daemon("--profile", "improved", "--brokers", "2")
    ring([a, b])
    put(a, "degC=21.5")
    assert got(b) == "degC=21.5"
    assert counter(b, "replicas") == 1
    put(a, "degC=22.5")
    wait_for(lambda: counter(b, "refreshed") == 1, "the replica took the newer value")
    assert got(b) == "degC=22.5"
    assert counter(b, "forwards") == 1, "the second answer came from the replica"


def test_a_switch_goes_before_the_profile(start_daemon: Callable[..., Daemon]) -> None:
    a, b = start_daemon("--profile", "improved", "--no-replica-refresh"), start_daemon("--replica-refresh")
    ring([a, b])
    put(a, "degC=21.5")
    assert got(b) == "degC=21.5"
    put(a, "degC=22.5")
    assert (counter(a, "refreshes_sent"), got(b)) == (0, "degC=21.5")


def test_settings_are_printed_for_a_profile() -> None:
    code, printed, _ = overlay("settings", "--profile", "improved")
    values = dict(line.split(maxsplit=1) for line in printed.splitlines())
    assert (code, values["walk_policy"], values["replica_refresh"], values["walk_ttl"]) == (
        0,
        "backtrack",
        "on",
        "0 hops",
    )
