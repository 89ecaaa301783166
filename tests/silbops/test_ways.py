"""One publication's way, of small runs in virtual time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.deployment.deployment import Deployment, run_document
from overlay.experiment.definition import checked
from overlay.sim.engine import simulate
from telemetry.collect import collect
from telemetry.lake.runs import Lake, RunFiles
from telemetry.systems.silbops import messages, way_files
from telemetry.systems.silbops.ways import Way
from tests.silbops.test_runs import LINKS, WORKLOAD

Run = tuple[RunFiles, Lake]


def collected(directory: Path, settings: dict[str, Any], workload: dict[str, Any]) -> Run:
    """A run on the tree of five brokers."""
    files, lake = RunFiles(directory / "r1"), Lake(directory / "lake")
    definition = {"name": "test", "system": "silbops", "engine": SIMULATED, "topology": "t"}
    definition |= {"settings": settings, "workload": WORKLOAD | workload}
    topology: dict[str, Any] = {"name": "t", "kind": "custom", "brokers": 5, "positions": None}
    topology["links"] = [{"a": one, "b": other, "delay_ms": 1} for one, other in LINKS]
    configuration = checked(definition, {"t": topology}.get)[1][0]
    document = run_document(configuration, run="r1", seed=1, directory=str(files.directory))
    simulate(Deployment.from_json(json.loads(json.dumps(document)), SIMULATED))
    files.write_manifest({**configuration, "engine": SIMULATED})
    collect(files, lake)
    return files, lake


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Every publication is traced, and subscribers move to other brokers."""
    return collected(tmp_path_factory.mktemp("run"), {"trace_one_in": 1}, {"handover_interval_s": 1.5})


def rows_of(run: Run, **chosen: str) -> list[dict[str, Any]]:
    return messages.listed(*run, chosen, 0, 10_000)[1]


def ways_of(run: Run, **chosen: str) -> list[Way]:
    found = [way_files.find(*run, row["id"]) for row in rows_of(run, **chosen)]
    assert all(found)
    return [one for one in found if one is not None]


def test_every_publication_is_listed(run: Run) -> None:
    rows = rows_of(run)
    assert len(rows) == 3 * 4 * 5, "3 cameras, 4 s, 5 each second"
    assert {row["outcome"] for row in rows} == {"delivered", "undelivered"}
    assert sum(row["delivered"] for row in rows) == sum(row["due"] for row in rows) > 10
    slowest = rows_of(run, show="slowest")
    assert [row["us"] for row in slowest] == sorted((row["us"] for row in slowest), reverse=True)
    assert rows_of(run, show="lost") == rows_of(run, show="spurious") == rows_of(run, show="refused") == []
    assert rows_of(run, show="traced") == rows
    assert messages.publishers(run[0]) == ["publisher-0", "publisher-1", "publisher-2"]
    assert {row["publisher"] for row in rows_of(run, publisher="publisher-1")} == {"publisher-1"}
    name = rows[0]["attributes"].split(", ")[0]
    assert rows[0] in rows_of(run, attribute=name)
    assert rows_of(run, attribute="nothing-has-it") == []
    got = ways_of(run, subscriber="subscriber-2")
    assert 0 < len(got) < len(rows)
    assert all("subscriber-2" in {one.client for one in way.records.deliveries} for way in got)
    with pytest.raises(InvalidSetting, match="must be one of"):
        rows_of(run, show="nothing")


def test_it_goes_from_broker_to_broker_to_those_that_get_it(run: Run) -> None:
    for way in ways_of(run):
        first = way.messages[0]
        assert (first.kind, first.sender, first.receiver) == ("PUBLISH", way.row["publisher"], way.entered)
        told = {(one.receiver, one.arrived_us) for one in way.messages if one.kind == "NOTIFY" and one.passage is None}
        assert {(one.client, one.received_us) for one in way.records.deliveries} <= told
        assert not any(one.is_lost for one in way.messages)
        for one in way.passages:
            assert one.arrived_us is not None
            assert one.kind != "PUB" or one.arrived_us - one.sent_us >= 1_000, "the delay of a link"


def test_who_says_no_is_told_at_each_broker(run: Run) -> None:
    ways = ways_of(run)
    steps = [one for way in ways for one in way.steps]
    withheld = [one for one in steps if one.step == "withheld"]
    assert withheld and all(one.candidates > 0 and one.detail for one in withheld)
    assert any("pub.x" in one.detail for one in withheld), "a function of context says no"
    filtered = [one for one in steps if one.step == "filtered"]
    constraint = [one.detail for one in filtered if one.rows and not one.candidates]
    assert constraint and all(" is " in detail for detail in constraint), "a constraint says no"
    for way in ways:
        sent = {(one.broker, one.peer) for one in way.steps if one.step == "forwarded"}
        assert not sent & set(way.filtered)
        matched = [one for one in way.steps if one.step == "matched"]
        assert len(matched) == 1 + sum(one.step == "received" for one in way.steps)
        assert all(one.candidates <= one.rows for one in matched)


def test_who_does_not_get_it_and_why(run: Run) -> None:
    """By what subscribers had set, whatever was traced."""
    says = set[str]()
    for way in ways_of(run, publisher="publisher-1"):
        against = way_files.without(way, run[1], run[0].run)
        assert against is not None
        got = {one.client for one in way.records.deliveries}
        assert sorted({one.client for one in against} | got) == [f"subscriber-{number}" for number in range(6)]
        assert len(against) == 6 - len(got)
        says |= {one.says for one in against if not one.candidates}
        assert all("pub." in one.says for one in against if one.candidates), "a function of context"
    assert any(" is missing" in one for one in says) and any(", not " in one for one in says), "a constraint"


def test_after_a_move_it_comes_by_the_old_broker(run: Run) -> None:
    ways = ways_of(run)
    steps = {one.step for way in ways for one in way.steps}
    assert {"passed on", "brought", "repeated"} <= steps
    moved = next(way for way in ways if any(one.step == "passed on" for one in way.steps))
    after = next(one for one in moved.messages if one.kind == "NOTIFY" and one.passage is not None)
    assert after.arrived_us is not None


def test_without_tracing_there_are_the_records_of_clients(tmp_path: Path) -> None:
    found = collected(tmp_path, {"trace_one_in": 0}, {"duration_s": 1})
    way = next(one for one in ways_of(found) if one.row["delivered"])
    assert (way.row["traced"], way.steps, way.messages) == (False, [], [])
    assert way.records.deliveries
    assert way_files.find(*found, "publisher-9-9") is None
