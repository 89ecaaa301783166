"""A sweep of simulated runs: by processes, killed, taken up by Spark; what ends badly, and what is told meanwhile."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import psutil
import pytest

from telemetry.__main__ import main
from telemetry.cli.sweep import _alone, orders_of
from telemetry.errors import TelemetryError
from telemetry.lake.runs import Lake, read_manifest
from telemetry.sweep import processes, simulation
from telemetry.sweep.batch import Batch, Told
from telemetry.sweep.page import Progress
from telemetry.sweep.processes import in_processes
from telemetry.sweep.simulation import Order, Places, simulate_run
from telemetry.sweep.work import perform
from tests.waiting import wait_for

ROOT = Path(__file__).parents[2]
SPEC = """
topology: {kind: ring, brokers: 4, params: {delay_ms: 1}}
settings: {replication: none}
workload: {providers: 2, consumers: [2, 3, 4, 5, 300], request_interval_s: 1, duration_s: 60, stagger_ms: 10}
simulation: {service_times: none}
seed: 3
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "rings.yaml"
    path.write_text(SPEC)
    return path


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "runs", tmp_path / "lake", tmp_path / "var")


@pytest.fixture
def order(spec: Path) -> Order:
    """A small one."""
    return orders_of(spec)[0]


def now() -> datetime:
    return datetime.now(UTC)


def row_of(rows: list[dict[str, Any]], consumers: int, places: Lake) -> dict[str, Any]:
    return next(
        row for row in rows if read_manifest(places.manifest_path(row["run"]))["workload"]["consumers"] == consumers
    )


@pytest.mark.spark
def test_a_sweep_that_was_killed_is_taken_up_by_spark_and_computes_nothing_twice(spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    given = ["sweep", str(spec), "--out", str(out), "--var", str(tmp_path / "var")]
    first = subprocess.Popen(
        [sys.executable, "-m", "telemetry", *given, "--plain"], cwd=ROOT, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: list((tmp_path / "var" / "simulated").glob("[0-9a-f]*/outcome.json")), "a run is done")
        others = psutil.Process(first.pid).children(recursive=True)
    finally:
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
    _, alive = psutil.wait_procs(others, 10)
    assert not alive, "a process outlived the sweep"

    assert main(given) == 0
    rows = json.loads((out / "sweep.json").read_text())
    assert [row["state"] for row in rows] == ["done"] * 5
    assert any(row["was_kept"] for row in rows)
    assert len({row["digest"] for row in rows}) == 5
    assert all(Lake(out / "lake").holds(row["run"]) for row in rows)
    assert row_of(rows, 300, Lake(out / "lake"))["requests"] == 300 * 60
    assert len(json.loads((out / "runs.json").read_text())) == 5


def test_one_that_cannot_be_simulated_is_told_with_its_seed_and_ends_no_other(
    spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec.write_text(SPEC.replace("[2, 3, 4, 5, 300]", "[2, 3]"))
    broken = [
        replace(one, seed=-1) if one.configuration["workload"]["consumers"] == 2 else one for one in orders_of(spec)
    ]
    monkeypatch.setattr("telemetry.cli.sweep.orders_of", lambda *_: broken)
    assert main(["sweep", str(spec), "--out", str(tmp_path / "out"), "--var", str(tmp_path / "var")]) == 1
    said = capsys.readouterr().out
    assert "2 simulated runs: " in said
    assert "1 done" in said
    assert "seed -1: seed" in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("engine: quantum", "engine: must be one of"),
        ("surprise: 1", "surprise: is not known"),
        ("- 1", "must be one object"),
        ("replicates: 0", "replicates: must be a whole number"),
    ],
)
def test_a_wrong_definition_is_a_sentence(
    spec: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    spec.write_text(text if text.startswith("-") else f"{SPEC}\n{text}\n")
    assert main(["sweep", str(spec)]) == 2
    assert words in capsys.readouterr().err


def test_equal_runs_are_simulated_once_and_a_change_of_anything_is_another(order: Order, places: Places) -> None:
    first = simulate_run(order, places, now())
    twin = simulate_run(replace(order, run="twin"), places, now())
    assert (first.was_kept, twin.was_kept, first.digest == twin.digest) == (False, True, True)
    other = simulate_run(replace(order, run="other", seed=order.seed + 1), places, now())
    assert (other.was_kept, other.digest != first.digest) == (False, True)
    summaries = [read_manifest(Lake(places.lake).manifest_path(run))["summary"] for run in (order.run, "twin")]
    assert summaries[0] == summaries[1]


def test_a_repetition_is_held_against_the_digest_that_it_had_though_nothing_is_kept(
    order: Order, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = simulate_run(order, places, now())

    def again(run: str, **changed: str) -> simulation.Result:
        shutil.rmtree(places.kept)
        had = {"run": order.run, "key": first.key, "digest": first.digest, **changed}
        return simulate_run(replace(order, run=run, again=True, repeats=had), places, now())

    same = again("same")
    assert (same.repeat["outcome"], same.repeat["run"], same.differs_from) == ("identical", order.run, "")
    assert read_manifest(Lake(places.lake).manifest_path("same"))["simulated"]["repeat"] == same.repeat
    other = again("other", digest="0" * 32)
    assert (other.repeat["outcome"], other.differs_from) == ("different", "0" * 32)
    unknown = again("unknown", digest="")
    assert (unknown.repeat["outcome"], "did not complete" in unknown.repeat["why"]) == ("not comparable", True)
    monkeypatch.setattr(simulation, "simulator_version", lambda _: "a later one")
    assert again("later").repeat["outcome"] == "identical", "whatever made them, the bytes are the same"
    later = again("changed", digest="0" * 32)
    assert (later.repeat["outcome"], later.differs_from) == ("not comparable", "")
    assert later.repeat["why"] == "changed since that run: the code of the simulator"


def test_what_was_left_unfinished_is_begun_anew(order: Order, places: Places) -> None:
    key = simulation.content_key(order.configuration, order.seed, None)
    left = places.kept / f".{key}" / "journal"
    left.mkdir(parents=True)
    (left / "other.journal").write_bytes(b"torn")
    assert not simulate_run(order, places, now()).was_kept
    assert [path.name for path in places.kept.iterdir()] == [key]
    assert "other.journal" not in {path.name for path in (places.kept / key / "journal").iterdir()}


def test_a_run_that_is_stopped_keeps_what_it_has_and_is_not_taken_for_whole(order: Order, places: Places) -> None:
    shares: list[float] = []
    stopped = simulate_run(
        order, places, now(), lambda state, share: shares.append(share), lambda: bool(shares) and shares[-1] > 0.5
    )
    assert stopped.was_stopped
    assert read_manifest(Lake(places.lake).manifest_path(order.run))["summary"]["requests"] > 0
    assert not list(places.kept.iterdir())
    assert not simulate_run(order, places, now()).was_stopped


def test_a_run_that_ends_its_process_is_told_as_failed_and_the_others_go_on(
    spec: Path, places: Places, tmp_path: Path
) -> None:
    orders = orders_of(spec)[:2]
    batch = Batch.write(tmp_path / "batch", places, orders, [2.0, 1.0])
    batch.tell(orders[0].run, Told(attempts=2))  # as one that was begun twice and never told its end
    in_processes(batch, 1)
    told = {run: one.state for run, one in batch.all_told()}
    assert told == {orders[0].run: "failed", orders[1].run: "done"}
    assert "died 2 times" in batch.told(orders[0].run).reason


def end_at_once(directory: str, run: str) -> None:
    os._exit(1)


def test_a_batch_whose_processes_begin_nothing_says_so_and_ends(
    order: Order, places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_context", lambda: get_context("fork"))
    monkeypatch.setattr(processes, "_perform", end_at_once)
    with pytest.raises(TelemetryError, match="end before they begin a run"):
        in_processes(Batch.write(tmp_path / "batch", places, [order], [1.0]), 1)


def end_with_what_is_blocked(directory: str, run: str) -> None:
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    Batch.read(Path(directory)).tell(run, Told("done", reason=" ".join(one.name for one in blocked)))


def test_ctrl_c_reaches_no_process_of_a_batch(
    order: Order, places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_context", lambda: get_context("fork"))
    monkeypatch.setattr(processes, "_perform", end_with_what_is_blocked)
    batch = Batch.write(tmp_path / "batch", places, [order], [1.0])
    in_processes(batch, 1)
    assert batch.told(order.run).reason == "SIGINT"
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_what_is_to_stop_is_not_begun(order: Order, places: Places, tmp_path: Path) -> None:
    batch = Batch.write(tmp_path / "batch", places, [order], [1.0])
    batch.stop()
    assert perform(batch, order.run).state == "cancelled"
    assert not places.runs.exists()


def test_time_left_comes_from_what_was_really_computed(spec: Path, places: Places, tmp_path: Path) -> None:
    orders = orders_of(spec)
    batch = Batch.write(tmp_path / "batch", places, orders, [1.0, 1.0, 1.0, 1.0, 6.0])
    assert batch.runs[0] == orders[4].run, "the dearest goes first"
    progress = Progress(batch, began=100.0)
    assert progress.words(110.0) == "0 of 5 runs"
    batch.tell(orders[0].run, Told("done", 1.0, result={"was_kept": True}))
    batch.tell(orders[4].run, Told("measuring", 0.5))
    assert progress.words(130.0) == "1 of 5 runs, about 60\u202fs left"
    batch.stop()
    batch.tell(orders[1].run, Told("cancelled", 0.0))
    assert progress.words(131.0) == "1 of 5 runs, stopping 1"


def test_requests_that_a_fault_lost_break_a_threshold_on_time(
    spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of its brokers is dead for most of the run, and the answers of the others are quick."""
    small = SPEC.replace("consumers: [2, 3, 4, 5, 300]", "consumers: 8")
    spec.write_text(f"{small}thresholds: [p99 < 8s, p50 < 8s]\nfaults: [{{what: kill, brokers: [1], at_s: 1}}]\n")
    assert main(["sweep", str(spec), "--plain", "--out", str(tmp_path / "out"), "--var", str(tmp_path / "var")]) == 4
    assert re.search(r"p99 < 8s \(\d+ of \d+ requests got no answer, so p99 is unbounded\)", capsys.readouterr().out)
    (row,) = json.loads((tmp_path / "out" / "sweep.json").read_bytes())
    assert row["answer_ratio"] == row["answered"] / row["requests"] < 1
    assert row["p95_us"] is not None


def test_a_threshold_that_a_run_breaks_is_told_and_is_an_exit_code_of_its_own(
    spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = SPEC.replace("consumers: [2, 3, 4, 5, 300]", "consumers: 2")
    given = ["sweep", str(spec), "--plain", "--out", str(tmp_path / "out"), "--var", str(tmp_path / "var")]
    spec.write_text(f"{small}thresholds: [not_found < 1000, p95 < 1us]\n")
    assert main(given) == 4
    said = capsys.readouterr().out
    assert "0 of 1 runs met their thresholds" in said
    assert re.search(r"broken: \S+, seed \d+: p95 < 1us \([\d.]+ms\)", said)
    (row,) = json.loads((tmp_path / "out" / "sweep.json").read_bytes())
    assert (row["passed"], [one["held"] for one in row["thresholds"]]) == (False, [True, False])

    spec.write_text(f"{small}thresholds: [p95 < 1s]\n")
    assert main(given) == 0, "the same run, judged by what is demanded now"
    spec.write_text(f"{small}thresholds: [p59 < 1s]\n")
    assert main(given) == 2
    assert "thresholds.0: there is no figure “p59”" in capsys.readouterr().err


def test_two_sweeps_do_not_share_a_place(
    spec: Path, places: Places, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    order = orders_of(spec)[0]
    batch = Batch.write(tmp_path / "out" / "batch", places, [order], [1.0])
    batch.tell(order.run, Told("measuring", 0.5))
    with _alone(tmp_path / "out"):
        code = main(["sweep", str(spec), "--plain", "--out", str(tmp_path / "out"), "--var", str(tmp_path / "var")])
    assert (code, "Another sweep is under way" in capsys.readouterr().err) == (1, True)
    assert batch.told(order.run).share == 0.5, "what the first one tells is still there"


def test_what_is_of_no_sweep_stays_where_it_lies(
    spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    thesis = tmp_path / "out" / "batch" / "thesis.tex"
    thesis.parent.mkdir(parents=True)
    thesis.write_text("years of work")
    code = main(["sweep", str(spec), "--plain", "--out", str(tmp_path / "out"), "--var", str(tmp_path / "var")])
    assert (code, "contains 'thesis.tex', which is not part of a sweep" in capsys.readouterr().err) == (1, True)
    assert thesis.read_text() == "years of work"
