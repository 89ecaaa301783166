"""A deployment in virtual time: phases, facts, faults, digests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from overlay.core.engines import SIMULATED
from overlay.core.service_times import ServiceModel
from overlay.deployment.deployment import Deployment
from overlay.journal.facts import Event, Holdings, Sample, Start, Tick
from overlay.journal.journal import read_journal
from overlay.journal.recording import Recording, What
from overlay.runtime.calibrated import model_of, reference
from overlay.sim.engine import Outcome, Progress, SimulationFailed, simulate
from overlay.sim.world import server_address
from overlay.systems.context_broker.system import SYSTEM

OVER_LINKS = {"replication": "none"}
"""What is asked for has to come from its holder."""
WORKLOAD = {
    "providers": 2,
    "consumers": 10,
    "update_interval_s": 1,
    "request_interval_s": 0.5,
    "duration_s": 10,
    "stagger_ms": 50,
    "holders": 1,
}

FAULTS = [
    {"what": "kill", "brokers": [1], "at_s": 1, "until_s": 3},
    {"what": "partition", "islands": [[0, 1, 2], [3, 4, 5]], "at_s": 2, "until_s": 5},
    {"what": "lossy", "links": "all", "loss": 0.2, "at_s": 4},
    {"what": "impaired", "links": [[0, 1]], "duplication": 0.5, "corruption": 0.1, "reordering": 0.5, "at_s": 5},
]
"""Some of everything."""


def document(directory: Path, brokers: int = 6, **changes: Any) -> dict[str, Any]:
    links = [{"a": i, "b": (i + 1) % brokers, "delay_ms": 2} for i in range(brokers)]
    return {
        "id": "run-1",
        "kind": "run",
        "epoch": 0,
        "directory": str(directory),
        "seed": 7,
        "system": "context-broker",
        "topology": {"brokers": brokers, "links": links},
        "settings": {},
        "workload": WORKLOAD,
        "lease_s": 60,
        **changes,
    }


def run(directory: Path, services: ServiceModel | None = None, **changes: Any) -> Outcome:
    return simulate(Deployment.from_json(document(directory, **changes), SIMULATED), services)


def facts(directory: Path, kind: type, **wanted: Any) -> list[Any]:
    found = [fact for path in (directory / "journal").iterdir() for fact in read_journal(path) if type(fact) is kind]
    return [fact for fact in found if all(getattr(fact, name) == value for name, value in wanted.items())]


def test_a_run_goes_through_its_phases_and_every_request_ends(tmp_path: Path) -> None:
    outcome = run(tmp_path)
    phases = [event.detail["phase"] for event in facts(tmp_path, Event, name="phase")]
    assert phases == ["warming", "measuring", "draining", "finished"]
    samples = facts(tmp_path, Sample, role="consumer", phase="measuring")
    assert Counter(sample.outcome for sample in samples) == {"answered": 10 * 10 / 0.5}
    processes = {start.process for start in facts(tmp_path, Start)}
    assert processes == {*(f"broker-{i}" for i in range(6)), "providers-0", "consumers-0", "supervisor"}
    assert [event.detail["digest"] for event in facts(tmp_path, Event, name="digest")] == [outcome.digest]
    assert len(facts(tmp_path, Holdings)) == 6


def test_every_process_tells_of_itself_each_second(tmp_path: Path) -> None:
    outcome = run(tmp_path)
    for process in ("broker-0", "consumers-0"):
        at = [tick.at_us / 1e6 for tick in facts(tmp_path, Tick, process=process)]
        assert max(later - earlier for earlier, later in pairwise(at)) <= 1
        assert at[-1] == outcome.simulated_s


def run_everything(directory: Path, seed: int, *, calibrated: bool) -> str:
    """The digest of a run with faults."""
    return run(directory, model_of(reference(), SYSTEM) if calibrated else None, seed=seed, faults=FAULTS).digest


@pytest.mark.parametrize("calibrated", [False, True])
def test_equal_runs_are_equal_in_every_byte_in_any_process(calibrated: bool, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.sim.test_engine import run_everything;"
        f"print(run_everything(Path(sys.argv[1]), int(sys.argv[2]), calibrated={calibrated}))"
    )

    def digest(name: str, seed: int, hash_seed: str) -> tuple[str, bytes]:
        directory = tmp_path / name
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        command = [sys.executable, "-c", program, str(directory), str(seed)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout, (directory / "journal" / "simulation.journal").read_bytes()

    one, again, other = digest("one", 1, "1"), digest("again", 1, "2"), digest("other", 2, "1")
    assert one == again
    assert one[0] != other[0]


def test_a_run_that_is_begun_again_in_its_directory_leaves_nothing_of_the_first(tmp_path: Path) -> None:
    assert run(tmp_path) == run(tmp_path)
    assert len(facts(tmp_path, Start, process="supervisor")) == 1


def test_one_that_is_stopped_keeps_what_it_measured(tmp_path: Path) -> None:
    seen: list[Progress] = []
    deployment = Deployment.from_json(document(tmp_path), SIMULATED)
    outcome = simulate(deployment, on_progress=seen.append, should_stop=lambda: bool(seen) and seen[-1].done_s > 6)
    assert outcome.was_stopped
    assert 6 < outcome.simulated_s < 7
    assert facts(tmp_path, Sample, phase="measuring")
    assert facts(tmp_path, Event, name="phase")[-1].detail["phase"] == "stopped"
    assert [one.share for one in seen] == sorted(one.share for one in seen)


def test_a_killed_broker_is_down_and_back_empty_and_its_clients_wait(tmp_path: Path) -> None:
    fault = {"what": "kill", "brokers": [0, 1, 2, 3, 4, 5], "at_s": 2, "until_s": 5}
    run(tmp_path, faults=[fault])
    began, ended = (facts(tmp_path, Event, name=name)[0] for name in ("fault_began", "fault_ended"))
    assert (ended.at_us - began.at_us) / 1e6 == 3
    assert began.detail["label"] == "6 brokers killed"
    samples = facts(tmp_path, Sample, role="consumer", phase="measuring")
    assert not [one for one in samples if began.at_us < one.ended_us < ended.at_us and one.outcome == "answered"]
    assert [one for one in samples if one.ended_us > ended.at_us and one.outcome == "answered"]
    uptimes = [tick.counters["uptime"] for tick in facts(tmp_path, Tick, process="broker-3")]
    assert uptimes != sorted(uptimes)


def test_a_partition_lets_nothing_pass_and_heals(tmp_path: Path) -> None:
    """The holder is partitioned: queries at other brokers get NACK 202 during the fault, and answers after it."""
    alone = [[index] for index in range(6)]
    fault = {"what": "partition", "islands": alone, "at_s": 2, "until_s": 6}
    run(tmp_path, settings=OVER_LINKS, faults=[fault])
    began, ended = (facts(tmp_path, Event, name=name)[0].at_us for name in ("fault_began", "fault_ended"))
    samples = facts(tmp_path, Sample, role="consumer", phase="measuring")
    holder = {sample.broker for sample in facts(tmp_path, Sample, role="provider")}
    elsewhere = [one for one in samples if one.broker not in holder]
    cut_off = [one for one in elsewhere if began < one.sent_us and one.ended_us < ended]
    assert {one.outcome for one in elsewhere if one.ended_us < began} == {"answered"}
    assert cut_off
    assert "answered" not in {one.outcome for one in cut_off}
    assert {one.outcome for one in elsewhere if one.sent_us > ended + 3e6} == {"answered"}


def test_a_link_cut_one_way_still_carries_what_goes_the_other_way(tmp_path: Path) -> None:
    fault = {"what": "impaired", "links": [[1, 0]], "one_way": True, "partition": True, "at_s": 0}
    run(tmp_path, settings=OVER_LINKS, faults=[fault], record_mb=8)
    began = facts(tmp_path, Event, name="fault_began")[0].at_us * 1000

    def came(to: int, source: int) -> int:
        """Datagrams later than the last that was on its way when the fault began."""
        recording = Recording(tmp_path / "journal" / f"broker-{to}.1.recording")
        host = server_address(source)[0]
        return sum(one[0] == What.RECEIVED and one[2] == host and one[1] > began + 10**8 for one in recording)

    assert came(to=0, source=1) == 0
    assert came(to=1, source=0) > 0
    assert came(to=1, source=2) > 0


def test_slow_links_are_slow_for_as_long_as_the_fault_lasts(tmp_path: Path) -> None:
    fault = {"what": "slow", "links": "all", "delay_ms": 300, "at_s": 3, "until_s": 6}
    run(tmp_path, settings=OVER_LINKS, faults=[fault])
    began, ended = (facts(tmp_path, Event, name=name)[0].at_us for name in ("fault_began", "fault_ended"))
    samples = facts(tmp_path, Sample, role="consumer", phase="measuring", outcome="answered")
    holder = {sample.broker for sample in facts(tmp_path, Sample, role="provider")}
    elsewhere = [one for one in samples if one.broker not in holder]

    def longest_ms(since: int, until: float) -> float:
        return max(
            (one.ended_us - one.sent_us) / 1e3 for one in elsewhere if since < one.sent_us and one.ended_us < until
        )

    assert longest_ms(0, began) < 100
    assert longest_ms(began, ended) > 600
    assert longest_ms(ended, float("inf")) < 100


@pytest.mark.parametrize("by", ["links", "a fault"])
def test_what_links_do_beside_delay_and_loss_is_done_whether_a_topology_or_a_fault_says_so(
    by: str, tmp_path: Path
) -> None:
    def found(name: str, **shape: Any) -> tuple[int, float, float]:
        """Datagrams delivered, those that no broker could read, and the longest answer in seconds."""
        links = [{"a": i, "b": (i + 1) % 6, "delay_ms": 2, **(shape if by == "links" else {})} for i in range(6)]
        faults = [{"what": "impaired", "links": "all", "at_s": 0, **shape}] if shape and by == "a fault" else []
        topology = {"brokers": 6, "links": links}
        outcome = run(tmp_path / name, settings=OVER_LINKS, topology=topology, faults=faults)
        samples = facts(tmp_path / name, Sample, role="consumer", phase="measuring", outcome="answered")
        last = {tick.process: tick.counters for tick in facts(tmp_path / name, Tick) if tick.process[:6] == "broker"}
        unreadable = sum(counters["rejected_unreadable"] for counters in last.values())
        return outcome.delivered, unreadable, max(one.ended_us - one.sent_us for one in samples) / 1e6

    plain = found("plain")
    assert plain[1] == 0
    assert plain[2] < 0.1
    assert found("doubled", duplication=0.5)[0] > 1.2 * plain[0]
    assert found("damaged", corruption=0.2)[1] > 10
    assert found("held back", reordering=0.5, reordering_ms=300)[2] > 0.5
    assert found("narrow", rate_bytes_per_s=600)[2] > 1
    assert found("in bursts", loss=0.4, loss_burst=4) != found("one by one", loss=0.4)


def test_an_overlay_that_never_comes_together_fails_in_a_sentence(tmp_path: Path) -> None:
    links = [{"a": 0, "b": 1, "loss": 1}]
    with pytest.raises(SimulationFailed, match="could not join"):
        run(tmp_path, topology={"brokers": 2, "links": links})
    assert facts(tmp_path, Event, name="phase")[-1].detail["phase"] == "failed"


def test_what_only_the_sum_of_all_brokers_tells_does_not_fall_when_some_are_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("overlay.sim.journals.TOLD_APART", 3)
    run(tmp_path, settings=OVER_LINKS, faults=[{"what": "kill", "brokers": [0, 1, 2, 3], "at_s": 8}])
    sent = [tick.counters["out_3"] for tick in facts(tmp_path, Tick, process="brokers")]
    assert sent[-1] > 100
    assert sent == sorted(sent)
