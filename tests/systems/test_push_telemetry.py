"""The telemetry of a run in which clients only receive: its window is a phase, and it lacks no request."""

from __future__ import annotations

import pytest

from overlay.cli import simulate as simulate_command
from overlay.core.engines import SIMULATED
from overlay.deployment.deployment import Deployment, run_document
from overlay.experiment.inline import simulated
from overlay.journal.facts import Delivery
from overlay.journal.journal import read_journal
from overlay.sim.engine import journal_path, simulate
from overlay.sim.summary import summarise
from overlay.systems.registry import SYSTEMS
from telemetry.collect import collect
from telemetry.lake.runs import Lake, RunFiles
from telemetry.systems.contract import Telemetry
from tests.systems.herald import SYSTEM

DEFINITION = b"system: herald\nsettings: {relays: 2, copies: 2}\nworkload: {listeners: 6, seconds: 2}\n"


@pytest.fixture(autouse=True)
def herald(monkeypatch):
    monkeypatch.setitem(SYSTEMS, SYSTEM.name, SYSTEM)


def news(directory, definition=DEFINITION):
    """The files of a simulated run."""
    ((configuration,), files) = simulated(definition, "news.yaml")[1], RunFiles(directory / "r1")
    document = run_document(configuration, run="r1", seed=3, directory=str(files.directory))
    simulate(Deployment.from_json(document, SIMULATED))
    files.write_manifest({**configuration, "engine": SIMULATED, "seed": 3, "schedule": {"duration_s": 2.0}})
    return files


def test_the_command_shows_no_requests_where_no_client_asks(tmp_path, capsys):
    (tmp_path / "news.yaml").write_bytes(DEFINITION)
    assert simulate_command.main([str(tmp_path / "news.yaml")]) == 0
    shown = capsys.readouterr().out
    assert "requests" not in shown
    assert "servers         3\n" in shown


def test_a_run_of_deliveries_is_valid_and_its_window_is_the_phase_of_measuring(tmp_path):
    summary = collect(news(tmp_path), Lake(tmp_path / "lake"))
    assert (summary["verdict"], summary["verdict_reasons"]) == ("valid", [])
    begin_us, end_us = summary["window_us"]
    assert end_us - begin_us == summary["measured_us"] == 2_000_000
    assert summary["deliveries"]["delivered"] == summary["deliveries"]["duplicates"] == 6 * 20
    assert summary["requests"] == 0
    assert summary["counters"]["pushed"] > 0, "counted in the window"
    assert len(summary["memory"]["brokers"]) == 3
    assert list(summary["servers"]) == ["herald", "relay"]
    assert summarise(read_journal(journal_path(tmp_path / "r1")), SYSTEM).requests == 0


def test_a_run_in_which_nothing_arrived_is_suspect(tmp_path):
    files = news(tmp_path)
    summary = collect(files, Lake(tmp_path / "lake"))
    silent = news(tmp_path / "silent", DEFINITION.replace(b"seconds: 2", b"seconds: 2, news_per_s: 0.1"))
    assert [fact for fact in read_journal(journal_path(silent.directory)) if isinstance(fact, Delivery)] == []
    found = collect(silent, Lake(tmp_path / "silent-lake"))
    assert found["verdict_reasons"] == ["Samples lost: nothing was measured."]
    assert "deliveries" not in found
    assert summary["window_us"][1] - summary["window_us"][0] == found["window_us"][1] - found["window_us"][0]


def test_a_system_may_know_a_further_reason(tmp_path, monkeypatch):
    def reasons(self, journalled, summary):
        heard = len(set(journalled.tables["deliveries"]["client"].to_pylist()))
        return [f"{heard} listeners heard news {summary['deliveries']['duplicates']} times too often."]

    monkeypatch.setattr(Telemetry, "reasons", reasons)
    summary = collect(news(tmp_path), Lake(tmp_path / "lake"))
    assert summary["verdict"] == "suspect"
    assert summary["verdict_reasons"] == ["6 listeners heard news 120 times too often."]
