"""A system has tables of its own, which its servers and clients fill; what does not fit is said, and never an error."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow.parquet as pq
import pytest

from overlay.core.engines import SIMULATED
from overlay.deployment.deployment import Deployment, run_document
from overlay.journal.facts import Row, Start
from overlay.journal.journal import JournalWriter, read_journal
from overlay.runtime.load_generator import FleetReporter
from overlay.sim.engine import journal_path, simulate
from overlay.systems.registry import SYSTEMS
from telemetry.collect import collect
from telemetry.lake.runs import Lake, RunFiles
from telemetry.spark.schema import table_schema
from telemetry.systems.contract import Telemetry
from tests.systems.herald import Fleet, Herald, Listener


@dataclass(frozen=True, slots=True)
class Subscribed:
    """One row a second of each relay."""

    clients: int
    ports: list[int]
    note: str | None


@dataclass(frozen=True, slots=True)
class Heard:
    news: str
    took_s: float


class Noting(Listener):
    def facts(self):
        arrived = super().facts()
        took = [(one.received_us, [one.publication, (one.received_us - one.published_us) / 1e6]) for one in arrived]
        return [*arrived, *(Row("", at_us, "deliveries", values) for at_us, values in took)]


class Tabled(Herald):
    name, telemetry = "tabled", "tests.systems.test_own_tables:TabledTelemetry"

    def facts(self, process, server, zero_ns):
        ports = sorted(port for _, port in server._subscribers)
        return [Row(process, 3_000_000, "subscribers", [len(ports), ports, None])]

    def make_fleet(self, plans, servers, setup, windows, *, wall_offset_ns, most_lanes):
        found = super().make_fleet([], servers, setup, windows, wall_offset_ns=0, most_lanes=1)
        return Fleet([Noting(plan, servers, setup, windows) for plan in plans], found.tally)


class TabledTelemetry(Telemetry):
    tables = {"subscribers": Subscribed, "deliveries": Heard}

    def finish(self, files, samples, journalled, summary):
        return {"slowest_s": max(journalled.own["deliveries"]["took_s"].to_pylist())}


@pytest.fixture(autouse=True)
def tabled(monkeypatch):
    monkeypatch.setitem(SYSTEMS, Tabled.name, Tabled())


@pytest.fixture
def files(tmp_path):
    found = RunFiles(tmp_path / "r1")
    configuration = {
        "system": "tabled",
        "topology": {"brokers": 1, "links": []},
        "settings": {"relays": 2},
        "workload": {"listeners": 3, "seconds": 2.0},
    }
    document = run_document(configuration, run="r1", seed=3, directory=str(found.directory))
    simulate(Deployment.from_json(document, SIMULATED))
    found.write_manifest({**configuration, "engine": SIMULATED, "seed": 3})
    return found


def stored(lake, table):
    return pq.read_table(lake.part(table, "r1"), partitioning=None)


def test_rows_of_servers_and_clients_are_tables_of_the_lake(files, tmp_path):
    lake = Lake(tmp_path / "lake")
    summary = collect(files, lake)
    assert (summary["verdict"], summary["verdict_reasons"]) == ("valid", [])
    own = ["tabled.deliveries", "tabled.subscribers"]
    assert lake.tables_of("r1") == ["deliveries", "events", "manifests", "samples", *own, "ticks"]
    heard = stored(lake, "tabled.deliveries")
    assert heard.column_names == ["process", "at_us", "news", "took_s"]
    assert set(heard["process"].to_pylist()) == {"listeners-0"}, "a client does not know its process"
    assert len(heard) == len(stored(lake, "deliveries")) > 3 * 20
    assert summary["slowest_s"] == max(heard["took_s"].to_pylist()) > 0
    rows = [row for row in stored(lake, "tabled.subscribers").to_pylist() if row["process"] == "relay-0"]
    assert (rows[-1]["clients"], len(rows[-1]["ports"]), rows[-1]["note"]) == (2, 2, None)


def test_spark_knows_their_columns():
    assert table_schema("tabled.subscribers").simpleString() == (
        "struct<process:string,at_us:bigint,clients:bigint,ports:array<bigint>,note:string,run:string>"
    )
    assert "took_s:double" in table_schema("tabled.deliveries").simpleString()
    assert "publication:string" in table_schema("deliveries").simpleString(), "the common table of this name"


def test_rows_that_do_not_fit_make_a_run_suspect_in_a_sentence_each(files, tmp_path):
    writer = JournalWriter(files.journal("relay-9"), Start("relay-9", 1, 1_700_000_000_000_000, ""))
    for table, values in (
        ("moves", [1]),
        ("moves", [2]),
        ("subscribers", [1, [], "", 4]),
        ("subscribers", ["x", [], ""]),
    ):
        writer.write(Row("relay-9", 1, table, values))
    writer.write(Row("relay-9", 1, "subscribers", 7))
    writer.write(Row("relay-9", 7, "subscribers", [0, [5], "fits"]))
    writer.close()
    lake = Lake(tmp_path / "lake")
    reasons = collect(files, lake)["verdict_reasons"]
    assert reasons == [
        "Samples lost: 3 rows do not fit the columns of tabled.subscribers (6 values for 5 columns).",
        "Samples lost: 2 rows are of tabled.moves, an unknown table.",
    ]
    last = stored(lake, "tabled.subscribers").to_pylist()
    assert [row["note"] for row in last if row["process"] == "relay-9"] == ["fits"]


def test_the_load_generator_adds_the_process_to_rows(tmp_path):
    writer = JournalWriter(tmp_path / "a.journal", Start("listeners-1", 1, 0, ""))
    FleetReporter(writer, "listeners-1", 0, Fleet([], None)).report_fact(Row("", 5, "deliveries", ["n", 0.5]))
    writer.close()
    assert list(read_journal(tmp_path / "a.journal"))[1:] == [Row("listeners-1", 5, "deliveries", ["n", 0.5])]


def test_the_rows_are_facts_of_the_one_journal(files):
    rows = [fact for fact in read_journal(journal_path(files.directory)) if isinstance(fact, Row)]
    assert {(row.process, row.table) for row in rows} > {("relay-0", "subscribers"), ("listeners-0", "deliveries")}
