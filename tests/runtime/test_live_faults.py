"""Faults of a live run: real brokers killed and started again, real datagrams held back or lost between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from overlay.journal.facts import Event, Sample
from overlay.journal.journal import read_journal
from telemetry.collect import collect
from telemetry.lake.runs import Lake, RunFiles
from telemetry.live.window import LiveWindow
from tests.runtime.hosts import Host, pids
from tests.waiting import wait_for

WORKLOAD = {"providers": 1, "consumers": 6, "update_interval_s": 0.5, "request_interval_s": 0.1, "holders": 1}
FAULTS = [
    {"what": "slow", "links": "all", "delay_ms": 40, "at_s": 1, "until_s": 2},
    {"what": "impaired", "links": "all", "delay_ms": 20, "duplication": 0.5, "at_s": 1, "until_s": 2},
    {"what": "partition", "islands": [[0], [1], [2]], "at_s": 3, "until_s": 4},
    {"what": "restart", "brokers": [1], "at_s": 5},
    {"what": "kill", "brokers": [2], "at_s": 6, "until_s": 6.8},
]


def test_faults_strike_when_they_should_and_are_over_when_they_should(host: Host, tmp_path: Path) -> None:
    full = [{"a": a, "b": b} for a, b in ((0, 1), (0, 2), (1, 2))]
    document = host.run(
        "faulty",
        topology={"brokers": 3, "links": full},
        settings={"replication": "none"},
        workload={**WORKLOAD, "duration_s": 8, "stagger_ms": 10},
        faults=FAULTS,
    )
    host.deploy(document, "finished")
    wait_for(lambda: not pids(host.client.status("faulty")), "all processes have ended")
    files = RunFiles(tmp_path / "faulty")
    found = [fact for path in files.journals() for fact in read_journal(path)]
    events = [fact for fact in found if isinstance(fact, Event) and fact.name.startswith("fault_")]
    at = {(event.name, event.detail["what"]): event.at_us for event in events}
    samples = [fact for fact in found if isinstance(fact, Sample)]
    holder = {one.broker for one in samples if one.role == "provider"}
    asked = [one for one in samples if one.role == "consumer" and one.broker not in holder]

    def ended_between(began: Any, ended: Any) -> list[Sample]:
        """Requests that began and ended within the two instants."""
        return [one for one in asked if at[began] + 1e5 < one.sent_us and one.ended_us < at[ended]]

    slow = ended_between(("fault_began", "slow"), ("fault_ended", "slow"))
    assert min(one.ended_us - one.sent_us for one in slow if one.outcome == "answered") >= 120_000
    cut_off = ended_between(("fault_began", "partition"), ("fault_ended", "partition"))
    assert "answered" not in {one.outcome for one in cut_off}
    healed = ended_between(("fault_ended", "partition"), ("fault_began", "restart"))
    assert {one.outcome for one in healed} == {"answered"}
    assert min(one.ended_us - one.sent_us for one in healed) < 60_000
    down = at["fault_began", "kill"] + 1e5, at["fault_ended", "kill"]
    assert not [
        one for one in samples if one.broker == 2 and one.outcome == "answered" and down[0] < one.ended_us < down[1]
    ]
    back = [one for one in samples if one.broker == 1 and one.sent_us > at["fault_began", "restart"] + 5e5]
    assert "answered" in {one.outcome for one in back}
    marks = [mark for mark in LiveWindow(files).advance()["marks"] if mark["kind"] == "fault"]
    assert [(mark["label"], mark["until_s"] is not None) for mark in marks] == [
        ("all links +40 ms", True),
        ("all links: +20 ms, 50 % duplicated", True),
        ("partition into 3 islands", True),
        ("broker 1 restarted", False),
        ("broker 2 killed", True),
    ]
    (files.directory / "manifest.json").write_text("{}")
    summary = collect(files, Lake(tmp_path / "lake"))
    assert not [one for one in summary["verdict_reasons"] if "broker" in one.lower()]
