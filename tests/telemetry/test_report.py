"""The comparison by Spark: numpy's numbers, one page that needs nothing else, plain words when it cannot."""

import json
import re
import shutil
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from overlay.journal.facts import OUTCOMES, Sample
from overlay.journal.journal import read_journal
from telemetry.__main__ import main
from telemetry.collect import collect
from telemetry.errors import TelemetryError
from telemetry.lake.configurations import choose
from telemetry.lake.records import FOUND
from telemetry.lake.runs import Lake, read_manifest
from telemetry.reports.measured import CURVE
from telemetry.spark import nodes
from telemetry.spark.pipeline import measure
from telemetry.spark.report import read_choice, write_comparison
from telemetry.spark.session import spark_session
from telemetry.statistics.intervals import SHARE, interval
from telemetry.summary.truths import SHARES, TRUTHS
from tests.telemetry.synthetic import Script, write_lake, write_run

pytestmark = pytest.mark.spark

SCRIPTS = {
    "ring-0": Script(seed=1),
    "ring-1": Script(seed=2),
    "ring-2": Script(seed=3, late_us=30_000),
    "central-0": Script(seed=1, topology="central", brokers=1, base_us=1600),
}


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """Three replicates of a ring, one of them with a late generator, and one central broker: lake, list, journals."""
    base = tmp_path_factory.mktemp("report")
    lake, rows, files = Lake(base / "lake"), [], {}
    for name, script in SCRIPTS.items():
        files[name] = write_run(base / "runs" / name, script)
        summary = collect(files[name], lake)
        rows.append({"run": name, "replicate": int(name[-1]), "verdict": summary["verdict"]})
    (base / "runs.json").write_text(json.dumps(rows))
    return base, lake, files


@pytest.fixture(scope="module")
def report(collected):
    """The report on all of them, as the command writes it."""
    base, lake, _ = collected
    arguments = ["report", "--runs", base / "runs.json", "--lake", lake.directory, "--out", base / "out"]
    assert main([*map(str, arguments), "--title", "Ring </script> & central", "--var", str(base / "var")]) == 0
    return json.loads((base / "out" / "result.json").read_text()), (base / "out" / "report.html").read_text()


def answers(files):
    """Response times of the measured requests, microseconds, straight from the journals."""
    facts = [fact for path in files.journals() for fact in read_journal(path) if isinstance(fact, Sample)]
    kept = [fact for fact in facts if (fact.role, fact.phase, fact.outcome) == ("consumer", "measuring", "answered")]
    return np.array([fact.ended_us - fact.intended_us for fact in kept])


def test_spark_and_numpy_agree(report, collected):
    ring, central = report[0]["configurations"]
    rings = [answers(collected[2][f"ring-{i}"]) for i in range(3)]
    response = ring["response"]["from_intended"]
    for name, percent in (("p50", 50), ("p95", 95), ("p99", 99)):
        assert response[name]["replicates"] == pytest.approx([np.percentile(one, percent) for one in rings])
        assert response[name]["pooled"] == pytest.approx(np.percentile(np.concatenate(rings), percent))
    expected = interval([one.mean() for one in rings])
    assert [response["mean"][name] for name in ("value", "low", "high", "n")] == pytest.approx(
        [expected[name] for name in ("value", "low", "high", "n")]
    )
    assert central["response"]["from_intended"]["mean"]["value"] == pytest.approx(
        answers(collected[2]["central-0"]).mean()
    )
    curve = next(chart for chart in report[0]["charts"] if chart["id"] == "percentiles")
    drawn = [point["y"] for point in curve["series"][0]["points"]]
    assert drawn == pytest.approx(np.percentile(np.concatenate(rings), np.array(CURVE) * 100))


def test_spark_and_the_summaries_agree(report, collected):
    summaries = [json.loads(collected[1].manifest_path(f"ring-{i}").read_text())["summary"] for i in range(3)]
    ring = report[0]["configurations"][0]
    assert ring["response"]["from_sent"]["p95"]["replicates"] == pytest.approx(
        [s["p95_from_sent_us"] for s in summaries]
    )
    for name in ("rss_bytes", "pss_bytes", "uss_bytes", "over_idle_bytes", "table_bytes"):
        assert ring["memory"][name]["replicates"] == pytest.approx([s["memory"]["mean"][name] for s in summaries])
    for name in ("requests", "answered", "not_found", "refused", "timed_out"):
        assert ring["outcomes"][name] == sum(s[name] for s in summaries)
    for name in ("answer_ratio", "per_s"):
        assert ring[name]["replicates"] == pytest.approx([s[name] for s in summaries])
    for name in SHARES:
        assert ring["truth"][name]["replicates"] == pytest.approx([s["truth"][name] for s in summaries])
        assert ring["truth"][name]["high"] <= (1000 if name.endswith("1000") else 1)
    for name, of in (("success", "existed"), ("false_not_found_per_1000", "requests")):
        most, truths = 1000 if name.endswith("1000") else 1, [s["truth"] for s in summaries]
        shares, made = ([truth[one] for truth in truths] for one in (name, of))
        expected = interval(shares, SHARE, requests=made, most=most)
        found = ring["truth"][name]
        assert [found[end] for end in ("value", "low", "high")] == [
            end if end is None else pytest.approx(end) for end in (expected[of] for of in ("value", "low", "high"))
        ]
        assert 0 <= found["low"] <= found["value"] <= found["high"] <= most
    for word in TRUTHS:
        assert ring["truth"]["counts"][word] == sum(s["truth"][word] for s in summaries)
    assert ring["truth"]["stale_ms"]["replicates"] == [s["truth"]["stale_ms"]["p50"] for s in summaries]


def test_runs_from_before_their_requests_were_judged_are_compared_with_what_is_known_of_them(collected, tmp_path):
    """Their files lack the columns."""
    lake = Lake(tmp_path / "lake")
    for name in ("ring-0", "ring-1"):
        shutil.copytree(collected[1].manifest_path(name).parent, lake.manifest_path(name).parent)
        for table in ("samples", "ticks"):
            lake.part(table, name).parent.mkdir(parents=True)
            shutil.copy(collected[1].part(table, name), lake.part(table, name))
    old = lake.part("samples", "ring-0")
    pq.write_table(pq.read_table(old, partitioning=None).drop_columns(FOUND["samples"].names), old)
    (tmp_path / "runs.json").write_text('[{"run": "ring-0"}, {"run": "ring-1"}]')
    arguments = {"title": "", "now": datetime(2026, 1, 1, tzinfo=UTC), "var": tmp_path / "var"}
    result = write_comparison(read_choice(tmp_path / "runs.json", lake), lake, tmp_path / "out", **arguments)
    (ring,) = result["configurations"]
    assert ring["response"]["from_intended"]["mean"]["n"] == 2
    assert {ring["truth"][name]["n"] for name in SHARES} == {1}


def test_a_report_groups_replicates_and_says_what_it_doubts(report):
    ring, central = report[0]["configurations"]
    assert (ring["label"], ring["n"], ring["verdicts"]) == ("ring of 3, 3 brokers", 3, {"valid": 2, "suspect": 1})
    assert any("Generator late" in reason for reason in ring["verdict_reasons"])
    assert (central["n"], central["response"]["from_intended"]["mean"]["method"]) == (1, "n = 1, no interval")
    assert any("n = 1" in note and central["label"] in note for note in report[0]["notes"])
    assert central["published"]["config"] == 247
    assert central["published"]["same"] is False
    assert ring["published"] is None  # the thesis has no ring of three


def test_a_page_is_whole_and_inert(report):
    result, page = report
    assert [chart["id"] for chart in result["charts"]] == [
        "response-time", "percentiles", "memory", "figure-4.3", "figure-4.4", "figure-4.5", "figure-4.6",
    ]  # fmt: skip
    assert "Ring &lt;/script&gt; &amp; central" in page
    assert not re.search(r'(?:src|href)="https?://', page)
    assert "{{" not in page.partition("<script")[0]
    assert "18446744073709551615" not in page
    for name in ("ring-0", "central-0", "suspect", "governor"):
        assert name in page


def test_runs_of_which_none_was_answered_are_an_error(tmp_path):
    lake = Lake(tmp_path / "lake")
    collect(write_run(tmp_path / "silent", Script(consumers=0)), lake)
    (tmp_path / "runs.json").write_text('[{"run": "silent"}]')
    runs = read_choice(tmp_path / "runs.json", lake)
    with pytest.raises(TelemetryError, match="answered request"):
        write_comparison(
            runs, lake, tmp_path / "out", title="", now=datetime(2026, 1, 1, tzinfo=UTC), var=tmp_path / "var"
        )
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def spark(report, tmp_path_factory):
    """After the report, whose JVM is still there: a new session in it takes no time."""
    with spark_session(tmp_path_factory.mktemp("var")) as session:
        yield session


def rows(frame):
    return [tuple(row) for row in frame.collect()]


def test_only_requests_due_in_measuring_count(spark):
    columns = ["run", "role", "phase", "outcome", "intended_us", "sent_us", "ended_us", "truth", "stale_ms", "existed"]
    samples = [
        ("a", "consumer", "measuring", "answered", 100, 110, 150, "stale", 70, True),
        ("a", "consumer", "warming", "answered", 100, 110, 150, "fresh", 0, True),
        ("a", "provider", "measuring", "answered", 100, 110, 150, None, None, None),
    ]
    found = nodes.marked(spark.createDataFrame(samples, columns), ["consumer"])
    assert sorted(rows(nodes.values(found))) == [
        ("a", "response_from_sent_us", 40, 40),
        ("a", "response_us", 50, 50),
        ("a", "stale_ms", 70, 70),
    ]
    (tally,) = nodes.tallies(found).collect()
    assert (tuple(tally["outcome"]), tuple(tally["truth"]), tally["existed"]) == (
        (1, 0, 0, 0),
        (0, 1, 0, 0, 0, 0, 0),
        1,
    )


def test_a_cell_is_a_range_of_values_in_their_order(spark):
    """Else a percentile would be looked for where it is not."""
    drawn = np.unique([*range(300), *np.random.default_rng(1).integers(0, 2**40, 5000), *(2**i for i in range(41))])
    found = spark.createDataFrame([(int(value),) for value in drawn], ["value"]).selectExpr(
        "value", f"{nodes.CELL} cell"
    )
    values, cells = map(np.array, zip(*sorted(rows(found)), strict=True))
    assert (np.diff(cells) >= 0).all()
    assert ((cells <= values) & (values - cells <= values / 64)).all()


def test_a_lake_of_any_size_is_measured_as_numpy_would(spark, collected, tmp_path):
    """Two configurations; the second has one run."""
    lake = Lake(tmp_path / "lake")
    runs = [choose({"run": run}, read_manifest(lake.manifest_path(run))) for run in write_lake(lake, 18_000, 3_000)]
    names = [run.run for run in runs]
    written, as_collected = lake.part("samples", names[0]), collected[1].part("samples", "ring-0")
    assert pq.read_schema(written).equals(pq.read_schema(as_collected))
    found = measure(spark, lake, runs)
    requests = {name: measured_requests(lake, name) for name in names}
    pooled = [pa.concat_tables(requests[name] for name in group) for group in (names[:5], names[5:])]
    for row, table in zip(
        [*(found.response[name] for name in names), *found.pooled.values()], [*requests.values(), *pooled], strict=True
    ):
        assert row["answers"] == len(took(table, "intended_us"))
        for column, start in (("response_us", "intended_us"), ("response_from_sent_us", "sent_us")):
            times = took(table, start)
            said = [row[f"{column}_{name}"] for name in ("mean", "p50", "p95", "p99")]
            assert said == pytest.approx([times.mean(), *np.percentile(times, [50, 95, 99])])
    for curve, table in zip(found.curves.values(), pooled, strict=True):
        assert curve["curve"] == pytest.approx(np.percentile(took(table, "intended_us"), np.array(CURVE) * 100))
    for name, table in requests.items():
        stale = table.filter(pc.field("truth") == "stale")
        assert found.truths[name]["stale_ms"] == np.median(stale["stale_ms"])
        assert found.outcomes[name] == {word: table["outcome"].to_pylist().count(word) for word in OUTCOMES}


def measured_requests(lake, run):
    table = pq.read_table(lake.part("samples", run), partitioning=None)
    return table.filter((pc.field("phase") == "measuring") & (pc.field("role") == "consumer"))


def took(requests, start):
    answered = requests.filter(pc.field("outcome") == "answered")
    return answered["ended_us"].to_numpy() - answered[start].to_numpy()


def test_memory_is_the_mean_while_measuring_over_the_last_idle_tick(spark):
    columns = ["run", "process", "at_us", "rss_bytes", "pss_bytes", "uss_bytes", "counters"]
    ticks = [
        ("a", "broker-0", 1, 500, 50, 5, {"bytes": 0}),
        ("a", "broker-0", 2, 600, 60, 6, {"bytes": 0}),
        ("a", "broker-0", 10, 700, 70, 0, {"bytes": 100}),  # a platform that cannot tell USS
        ("a", "broker-0", 20, 900, 90, 10, {"bytes": 300}),
        ("a", "broker-0", 99, 999, 99, 99, {"bytes": 999}),
        ("a", "consumers-0", 10, 1, 1, 1, {}),
    ]
    window = spark.createDataFrame([("a", 5, 10, 20)], ["run", "clients_began_us", "begin_us", "end_us"])
    ticks = spark.createDataFrame(ticks, columns)
    found = nodes.broker_memory(nodes.with_tables(ticks, "bytes"), window)
    assert rows(found) == [("a", "broker-0", 800.0, 80.0, 10.0, (700 + 10) / 2 - 6, 200.0)]
    of_no_tables = nodes.broker_memory(nodes.with_tables(ticks, ""), window)
    assert rows(of_no_tables) == [("a", "broker-0", 800.0, 80.0, 10.0, (700 + 10) / 2 - 6, None)]


def command(*arguments):
    return main(["report", *map(str, arguments)])


@pytest.mark.parametrize(
    ("runs", "sentence"),
    [
        ("[]", "must be a JSON list with at least one run"),
        ("{}", "must be a JSON list with at least one run"),
        ('["r1"]', "must be an object like"),
        ("nonsense", "cannot be read"),
        ('[{"run": "never"}]', "'never' is not in the lake"),
        ('[{"run": "../../etc"}]', "is not a run's id"),
        ("[7]", "must be an object like"),
        ('[{"run": "ring-0"}, {"run": "ring-0"}]', "contains a run twice"),
    ],
)
def test_a_choice_that_cannot_be_is_one_sentence_and_exit_2(collected, tmp_path, capsys, runs, sentence):
    (tmp_path / "runs.json").write_text(runs)
    assert command("--runs", tmp_path / "runs.json", "--lake", collected[1].directory, "--out", tmp_path / "out") == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_missing_lake_is_one_sentence(tmp_path, capsys):
    assert command("--runs", tmp_path / "runs.json", "--lake", tmp_path / "no", "--out", tmp_path / "out") == 2
    assert "There is no lake at" in capsys.readouterr().err


def test_without_java_a_report_fails_with_a_sentence(collected, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    base, lake, _ = collected
    assert command("--runs", base / "runs.json", "--lake", lake.directory, "--out", tmp_path / "out") == 1
    assert "has no working bin/java" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
