"""Every number on a page is that of REST, and that of the samples: counts exactly, quantiles exactly where they are of
samples, and within the histogram's stated error where they are live."""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, geometric_mean
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow.parquet as pq
import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from brokerweb.experiments.models import Run, RunState
from brokerweb.runlist.columns import COLUMNS, MOST
from telemetry.lake.runs import RunFiles
from telemetry.measures import Measure
from telemetry.statistics.intervals import LOG, interval
from telemetry.systems.registry import measures
from tests.pages.furniture import House
from tests.pages.reading import Number, numbers, read, table

OUTCOMES = ("answered", "not_found", "timed_out", "refused")
TIMES = ("mean", "p50", "p95", "p99")
ENDS = ("value", "low", "high")
WITHIN_HISTOGRAM = 0.005
"""As ``telemetry.statistics.histograms`` states it."""


@dataclass(frozen=True)
class Told:
    """One run, as REST tells it, and what its samples say."""

    id: str
    api: Mapping[str, Any]
    counts: Mapping[str, int]
    truths: Mapping[str, int]
    times: np.ndarray
    """Microseconds from the intended sending, of what was answered in measuring."""
    per_s: float

    def figure(self, name: str) -> float | None:
        """A measure, of REST's summary."""
        return measures()[name].of(self.api["summary"])

    def requests(self, measure: Measure) -> float:
        """Of how many of them a share is, of REST's summary."""
        return functools.reduce(lambda found, key: found[key], measure.of_path, self.api["summary"])


def told(browser: Client, run: Run) -> Told:
    answer = browser.get(f"/api/runs/{run.pk}/samples/?format=parquet")
    rows = pq.read_table(io.BytesIO(b"".join(answer.streaming_content))).to_pylist()
    measured = [row for row in rows if row["phase"] == "measuring"]
    asked = [row for row in measured if row["role"] == "consumer"]
    answered = [row for row in asked if row["outcome"] == "answered"]
    return Told(
        id=run.pk,
        api=browser.get(f"/api/runs/{run.pk}/").json(),
        counts={"requests": len(asked), **_counted(asked, "outcome", OUTCOMES)},
        truths=_counted(asked, "truth", {row["truth"] for row in asked}),
        times=np.array([row["ended_us"] - row["intended_us"] for row in answered]),
        per_s=len(answered) / RunFiles(settings.RUNS / run.pk).read_manifest()["workload"]["duration_s"],
    )


def _counted(rows: Sequence[Mapping[str, Any]], column: str, words: Any) -> dict[str, int]:
    return {word: sum(row[column] == word for row in rows) for word in words}


def shown(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200, address
    return answer.content.decode()


def reads(text: str, *true: float | None) -> bool:
    """Whether the numbers of a text begin with these, rounded as the text is; what was not measured is no number."""
    known = [value for value in true if value is not None]
    found = numbers(text)
    return len(found) >= len(known) and all(one.is_(value) for one, value in zip(found, known, strict=False))


def told_in(name: str, *values: float | None) -> list[float | None]:
    """Values of a measure in that in which texts are read: microseconds for whatever is a time."""
    return [None if value is None else value * (1e3 if measures()[name].unit == "ms" else 1) for value in values]


def runs_of(part: str) -> list[str]:
    """The runs that a table of runs links to, in its order."""
    return list(dict.fromkeys(re.findall(r'<a href="/runs/([0-9a-z]{12})/"', part)))


def test_every_number_of_every_page_is_that_of_rest_and_of_the_samples(olga: Client, house: House) -> None:
    Run.objects.filter(state__in=(RunState.MEASURING, RunState.QUEUED)).update(
        state=RunState.CANCELLED, ended_at=timezone.now()
    )  # so that the sweep has ended, and home holds its topologies against each other
    runs = [told(olga, run) for run in Run.objects.filter(state=RunState.DONE)]
    assert len(runs) >= 8
    for run in runs:
        rest_says_what_the_samples_say(run)
        the_live_picture_is_within_the_histograms_error(olga, run)
        the_page_of_a_run(olga, run)
    home(olga, house, runs)
    the_list_of_runs(olga, runs)
    the_page_of_an_experiment(olga, house, runs)
    a_comparison(olga, runs)
    the_page_of_a_report(olga, house, runs)


def rest_says_what_the_samples_say(run: Told) -> None:
    summary = run.api["summary"]
    assert {name: summary[name] for name in run.counts} == run.counts
    assert {word: summary["truth"][word] for word in run.truths} == run.truths
    assert summary["mean"] == pytest.approx(run.times.mean(), rel=1e-12)
    assert [summary[name] for name in TIMES[1:]] == pytest.approx(np.percentile(run.times, [50, 95, 99]).tolist())
    assert summary["answer_ratio"] == run.counts["answered"] / run.counts["requests"]
    assert summary["per_s"] == pytest.approx(run.per_s)


def the_live_picture_is_within_the_histograms_error(browser: Client, run: Told) -> None:
    """The one that the websocket sends, too."""
    frame = browser.get(f"/api/runs/{run.id}/series/").json()
    assert {name: frame["outcomes"][name] for name in OUTCOMES} == {name: run.counts[name] for name in OUTCOMES}
    assert frame["latency"]["n"] == run.counts["answered"]
    exact = [run.times.mean(), *np.percentile(run.times, [50, 95, 99])]
    assert [frame["latency"][name] for name in TIMES] == pytest.approx(exact, rel=WITHIN_HISTOGRAM)


def the_page_of_a_run(browser: Client, run: Told) -> None:
    page = shown(browser, f"/runs/{run.id}/")
    terms, summary = read(page).terms, run.api["summary"]
    for term, name in zip(("Mean", "Response time, p50", "Response time, p95", "p99"), TIMES, strict=True):
        assert reads(terms[term], summary[name]), (term, terms[term])
    assert reads(terms["Answered"], summary["answer_ratio"], run.counts["answered"], run.counts["requests"])
    for term, name in (("Not found", "not_found"), ("Timed out", "timed_out"), ("Refused", "refused")):
        assert reads(terms[term], run.counts[name]), (term, terms[term])
    assert reads(terms["Throughput, answers"], summary["per_s"])
    assert reads(terms["Memory added per broker"], summary["memory"]["mean"]["over_idle_bytes"])
    for word in ("fresh", "stale", "false_not_found"):
        count = run.truths.get(word, 0)
        term = word.replace("_", " ").capitalize()
        assert reads(terms[term], count, count / run.counts["requests"]), (term, terms[term])
    listed = browser.get(f"/api/runs/{run.id}/brokers/").json()["results"]
    brokers = table(page, "Private (USS)")
    assert len(brokers.rows) == len(listed) == len(summary["memory"]["brokers"])
    for row, one, measured in zip(brokers.rows, listed, summary["memory"]["brokers"], strict=True):
        told_bytes = [measured[f"{kind}_bytes"] for kind in ("uss", "rss", "pss", "over_idle", "table")]
        assert [one[f"{kind}_bytes"] for kind in ("uss", "rss", "pss", "over_idle", "table")] == told_bytes
        assert reads(" ".join(row[4:]), *told_bytes), row


def home(browser: Client, house: House, runs: Sequence[Told]) -> None:
    page = shown(browser, "/")
    lately = page[page.index("Recent runs") :]
    known = {run.id: run for run in runs}
    ids = runs_of(lately.split("</table>")[0])
    rows = table(lately, "Mean", "p95", "Answered").rows
    assert len(ids) == len(rows) == 6
    for name, row in zip(ids, rows, strict=True):
        a_row_of_runs(known[name], row)
    assert "Latest sweep" in page
    sweep = table(page, "Mean of the replicates")
    query = f"q=experiment.id = {house.experiment.id}&by=topology&metric="
    for row, name in zip(sweep.rows, ("p50", "p95", "answer_ratio", "messages_per_query", "over_idle"), strict=True):
        groups = {one["label"]: one for one in browser.get(f"/api/compare/?{query}{name}").json()["results"]}
        for head, text in zip(sweep.heads[1:], row[1:], strict=True):
            figure = groups[head]["figures"][name]
            replicates = [run.figure(name) for run in runs if run.api["configuration"]["topology"]["name"] == head]
            mean = geometric_mean if measures()[name].scale == LOG else fmean
            assert figure["value"] == pytest.approx(mean([value for value in replicates if value is not None]))
            if figure["low"] is None:
                assert reads(text, figure["value"], figure["n"]), (name, head, text)
            else:
                assert reads(text, figure["value"], figure["low"], figure["high"]), (name, head, text)
                assert reads(text.split("n =")[1], figure["n"]), (name, head, text)


def a_row_of_runs(run: Told, row: Sequence[str]) -> None:
    """Mean, p95 and "100 of 120", behind run, state, topology and clients."""
    assert reads(row[4], run.api["summary"]["mean"]), row
    assert reads(row[5], run.api["summary"]["p95"]), row
    assert reads(row[6], run.counts["answered"], run.counts["requests"]), row


def the_list_of_runs(browser: Client, runs: Sequence[Told]) -> None:
    names = list(measures())[:MOST]
    query = f"q={quote('state = done')}&columns={','.join(names)}&size=100"
    page = shown(browser, f"/runs/?{query}")
    found = table(page, "Run")
    ids = runs_of(page[page.index("<tbody>") :])
    assert sorted(ids) == sorted(run.id for run in runs)
    by_id = {run.id: run for run in runs}
    listed = {row["run"]: row for row in browser.get(f"/api/runs/export/?{query}&format=json").json()}
    for name, row in zip(ids, found.rows, strict=True):
        for (measure, true), text in zip(
            ((measure, by_id[name].figure(measure)) for measure in names), row[2:], strict=True
        ):
            assert reads(text, *told_in(measure, true)), (measure, text, true)
            (exported,) = (listed[name][column] for column, _ in COLUMNS[measure].exported)
            assert exported == true, measure


def the_page_of_an_experiment(browser: Client, house: House, runs: Sequence[Told]) -> None:
    page = shown(browser, f"/experiments/{house.experiment.id}/")
    found = table(page, "n", "p50", "p95")
    listed = browser.get(f"/api/experiments/{house.experiment.id}/configurations/?sort=configuration").json()
    assert len(found.rows) == len(listed) == 4
    for row, one in zip(found.rows, listed, strict=True):
        of_it = [run for run in runs if run.api["configuration"]["topology"]["name"] == one["topology"]]
        cells = dict(zip(found.heads, row, strict=True))
        assert reads(cells["n"], len(of_it)), cells
        assert one["n"] == len(of_it)
        for name, at in (("p50", 50), ("p95", 95)):
            held = interval([float(np.percentile(run.times, at)) for run in of_it])
            expected = [held[end] for end in ("value", "low", "high")]
            told_by_rest = [one[f"{name}_us{end}"] for end in ("", "_low", "_high")]
            assert told_by_rest == [end if end is None else pytest.approx(end) for end in expected]
            assert reads(cells[name], *expected), (name, cells)
    known = {run.id: run for run in runs}
    of_runs = page[page.index('id="experiment-runs"') :]
    ids = runs_of(of_runs)
    rows = [(known[name], row) for name, row in zip(ids, table(of_runs, "Run").rows, strict=True) if name in known]
    assert len(rows) >= 6
    for run, row in rows:
        a_row_of_runs(run, row)


def a_comparison(browser: Client, runs: Sequence[Told]) -> None:
    """All measures, six at a time, as many as a table has."""
    known = {run.id: run for run in runs}
    worded = measures(Run.objects.filter(pk__in=known).values_list("system", flat=True))
    names = list(worded)
    for begin in range(0, len(names), 6):
        some = names[begin : begin + 6]
        query = f"q=&metric={','.join(some)}"
        groups = browser.get(f"/api/compare/?{query}").json()["results"]
        found = table(shown(browser, f"/compare/?{query}"), "Configuration", "Runs")
        for row, group in zip(found.rows, groups, strict=True):
            cells = dict(zip(found.heads, row, strict=True))
            assert reads(cells["Runs"], len(group["runs"]))
            for name in some:
                measure = worded[name]
                values = [known[run].figure(name) for run in group["runs"]]
                is_share = measure.of_path and any(value is not None for value in values)  # not of another system
                made = [known[run].requests(measure) for run in group["runs"]] if is_share else None
                held = interval(values, measure.scale, requests=made, most=measure.most)
                figure, text = group["figures"][name], cells[measure.title]
                assert figure["value"] == (None if held["value"] is None else pytest.approx(held["value"])), name
                assert figure["low"] == (None if held["low"] is None else pytest.approx(held["low"])), name
                ends = told_in(name, figure["value"], figure["low"], figure["high"])
                assert reads(text, *ends), (name, text)


def the_page_of_a_report(browser: Client, house: House, runs: Sequence[Told]) -> None:
    page = shown(browser, f"/reports/{house.report.id}/")
    known = {run.id: run for run in runs}
    report = browser.get(f"/api/reports/{house.report.id}/").json()
    listed = report["configurations"]
    (curves,) = [chart["series"] for chart in report["charts"] if chart["id"] == "percentiles"]
    for series, one in zip(curves, listed, strict=True):
        drawn = {round(point["x"], 1): (point["low"], point["high"], point["n"]) for point in series["points"]}
        for name, at in (("p50", 50), ("p95", 95), ("p99", 99)):
            figure = one["response"]["from_intended"][name]
            assert drawn[at] == (figure["low"], figure["high"], figure["n"]), name
    response, memory = table(page, "p99", "Answered"), table(page, "RSS", "PSS")
    worth = table(page, "Fresh answers")
    for row, of_memory, of_truth, one in zip(response.rows, memory.rows, worth.rows, listed, strict=True):
        of_it = [known[run] for run in one["runs"]]
        cells = dict(zip(response.heads, row, strict=True))
        assert reads(cells["n"], len(of_it)), cells
        for name, at in (("mean", None), ("p50", 50), ("p95", 95), ("p99", 99)):
            held = interval([float(run.times.mean() if at is None else np.percentile(run.times, at)) for run in of_it])
            figure = one["response"]["from_intended"][name]
            assert [figure[end] for end in ("value", "low", "high", "n")] == [
                end if end is None else pytest.approx(end) for end in (held[of] for of in ("value", "low", "high", "n"))
            ]
            text = cells[name.capitalize() if name == "mean" else name]
            assert reads(text, figure["value"], figure["low"], figure["high"]), (name, text)
        counts = [sum(run.counts[word] for run in of_it) for word in ("answered", "requests")]
        assert [one["outcomes"]["answered"], one["outcomes"]["requests"]] == counts
        share = [one["answer_ratio"][end] for end in ENDS]
        assert share[0] == pytest.approx(fmean(run.counts["answered"] / run.counts["requests"] for run in of_it))
        assert reads(cells["Answered"], *share, *counts), cells
        for kind, text in zip(("rss", "pss", "uss", "over_idle"), of_memory[2:6], strict=True):
            figure = one["memory"][f"{kind}_bytes"]
            values = [run.figure(kind) for run in of_it]
            mean = fmean if kind == "over_idle" else geometric_mean
            assert figure["value"] == pytest.approx(mean([value for value in values if value is not None]))
            assert reads(text, figure["value"], figure["low"], figure["high"]), (kind, text)
        fresh = sum(run.truths.get("fresh", 0) for run in of_it)
        assert one["truth"]["counts"]["fresh"] == fresh
        assert reads(of_truth[3], one["truth"]["fresh_share"]["value"]), of_truth


def test_a_text_is_read_as_the_number_that_it_stands_for() -> None:
    def found(text: str) -> list[tuple[float, float]]:
        return [(one.value, one.resolution) for one in numbers(text)]

    assert found("1.42\u202fms [1.38\u202fms, 1.47\u202fms]") == [(1_420, 10), (1_380, 10), (1_470, 10)]
    assert found("1\u202f234 of 2\u202f000") == [(1_234, 1), (2_000, 1)]
    assert found("1230/s") == [(1_230, 10)]
    assert found("–") == []
    assert Number(1_420, 10).is_(1_424.9)
    assert not Number(1_420, 10).is_(1_426)
    assert not Number(1_420, 10).is_(None)
