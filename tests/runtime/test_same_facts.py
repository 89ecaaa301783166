"""A live run and the same document in virtual time tell the same kinds of things, so that the same pages show both."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from overlay.core.engines import SIMULATED
from overlay.deployment.deployment import Deployment
from overlay.journal.facts import Event, Fact, Start, Tick
from overlay.journal.journal import read_journal
from overlay.sim.engine import simulate
from tests.runtime.hosts import Host, pids
from tests.waiting import wait_for

ONE_SIDED = {"digest", "NetworkLeft", "NeighbourLeft"}
"""Live brokers announce their leave at the end of a run; only simulated runs have a digest."""


def facts(directory: Path) -> list[Fact]:
    return [fact for path in (directory / "journal").glob("*.journal") for fact in read_journal(path)]


def told(found: Iterable[Fact]) -> dict[str, Any]:
    found = list(found)
    return {
        "kinds": {type(fact).__name__ for fact in found},
        "processes": {fact.process for fact in found if isinstance(fact, Start)},
        "phases": [fact.detail["phase"] for fact in found if isinstance(fact, Event) and fact.name == "phase"],
        "events": {fact.name for fact in found if isinstance(fact, Event)} - ONE_SIDED,
        "counters": {
            (fact.process, name) for fact in found if isinstance(fact, Tick) for name in fact.counters
        },
    }  # fmt: skip


def test_both_engines_tell_the_same_of_the_same_run(host: Host, tmp_path: Path) -> None:
    document = host.run("live", settings={"monitoring": True, "trace_one_in": 1})
    host.deploy(document, "finished")
    wait_for(lambda: not pids(host.client.status("live")), "all processes have ended")
    simulate(Deployment.from_json({**document, "directory": str(tmp_path / "simulated")}, SIMULATED))
    live, simulated = (told(facts(tmp_path / name)) for name in ("live", "simulated"))
    live["counters"], simulated["counters"] = (_always_there(one["counters"]) for one in (live, simulated))
    assert simulated == live


def _always_there(counters: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Without those that are counted by what happens to happen, such as ``in_3`` or a refusal."""
    return {(process, name) for process, name in counters if not name.startswith(("in_", "out_", "rejected_"))}
