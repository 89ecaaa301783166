"""``SPARK_MASTER``: a standalone master with two workers computes what this process computes, to the byte."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest

from telemetry.__main__ import main
from telemetry.collect import collect
from telemetry.lake.runs import Lake
from telemetry.spark.report import read_choice, write_comparison
from tests.spark_cluster import ROOT, cluster
from tests.telemetry.synthetic import Script, write_run
from tests.thorough import thoroughly
from tests.waiting import wait_for

pytestmark = pytest.mark.spark

SPEC = """
topology: {kind: ring, brokers: 4, params: {delay_ms: 1}}
workload: {providers: 2, consumers: [2, 3, 5], request_interval_s: 1, duration_s: 20, stagger_ms: 10}
simulation: {service_times: none}
seed: 3
"""
TABLES = ("samples", "ticks")
NOW = datetime(2026, 11, 23, tzinfo=UTC)


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with cluster(tmp_path_factory.mktemp("cluster")) as url:
        yield url


@thoroughly
def test_a_report_is_the_same_to_the_byte(master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = Lake(tmp_path / "lake")
    rows = []
    for seed in range(3):
        for topology, brokers in (("ring", 6), ("central", 1)):
            run = f"{topology}-{seed}"
            files = write_run(tmp_path / "runs" / run, Script(seed=seed, topology=topology, brokers=brokers))
            rows.append({"run": run, "replicate": seed, "verdict": collect(files, lake)["verdict"]})
    (tmp_path / "runs.json").write_text(json.dumps(rows))
    written = {}
    for where in ("local[2]", master):
        monkeypatch.setenv("SPARK_MASTER", where)
        out = tmp_path / where.partition(":")[0].partition("[")[0]
        chosen = read_choice(tmp_path / "runs.json", lake)
        result = write_comparison(chosen, lake, out, title="Both", now=NOW, var=tmp_path / "var")
        assert len(result["configurations"]) == 2
        written[where] = {path.name: path.read_bytes() for path in out.iterdir()}
    here, there = written.values()
    assert set(here) == {"result.json", "report.html"}
    assert here == there


@thoroughly
def test_a_sweep_leaves_the_same_tables_to_the_byte(
    master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rings.yaml").write_text(SPEC)
    found = {}
    for where, flags in (("here", ["--plain"]), ("there", [])):
        monkeypatch.setenv("SPARK_MASTER", master)
        out = tmp_path / where
        given = [str(tmp_path / "rings.yaml"), "--out", str(out), "--var", str(tmp_path / f"var-{where}")]
        assert main(["sweep", *given, *flags]) == 0
        rows = sorted(json.loads((out / "sweep.json").read_text()), key=lambda row: row["digest"])
        assert [row["state"] for row in rows] == ["done"] * 3
        lake = Lake(out / "lake")
        found[where] = [
            (row["digest"], *(sha256(lake.part(table, row["run"]).read_bytes()).hexdigest() for table in TABLES))
            for row in rows
        ]
    assert found["here"] == found["there"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["worker", "http://127.0.0.1:7077"], "master: must look like spark://HOST:7077, not 'http://127.0.0.1:7077'"),
        (["worker", "spark://127.0.0.1:7077", "--cores", "0"], "cores: must be at least 1, not 0"),
        (["worker", "spark://127.0.0.1:7077", "--memory", "lots"], "memory: must be a number with m or g"),
        (
            ["worker", "spark://127.0.0.1:7077", "--memory", "512m"],
            "memory: must be at least 768m, the memory of one executor",
        ),
    ],
)
def test_a_worker_that_cannot_be_is_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["spark", *arguments]) == 1
    assert sentence in capsys.readouterr().err


@thoroughly
def test_nothing_of_a_cluster_outlives_whoever_wanted_it(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; from tests.spark_cluster import cluster\n"
        "with cluster(Path(sys.argv[1]), workers=0): os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, env=os.environ, check=False)
    assert done.returncode == -9
    mark = str(tmp_path).encode()

    def left() -> list[Path]:
        return [path for path in Path("/proc").glob("[0-9]*/environ") if mark in read(path)]

    def read(path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError:
            return b""

    wait_for(lambda: not left(), "the master is gone")
