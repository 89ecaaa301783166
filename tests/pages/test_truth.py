"""Answer quality: on a run's page, in its samples, in a report; nothing of it for a run from before."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from brokerweb.experiments.models import Run
from brokerweb.reports.models import Report
from brokerweb.runpage import answer_quality
from telemetry.summary.truths import TRUTHS
from tests.pages.furniture import House
from tests.pages.summed_up import summed_up


def shown(browser: Client, address: str) -> str:
    page = browser.get(address)
    assert page.status_code == 200
    return page.content.decode()


def test_a_run_says_what_its_answers_were_worth(viktor: Client, house: House) -> None:
    run = house.runs["done"]
    page = shown(viktor, f"/runs/{run.id}/")
    assert "Answer quality" in page
    assert "False not found" in page
    assert re.search(r'<rect class="truth-fresh" x="0"', page)
    assert "Refused for another reason" not in page  # there were none
    api = viktor.get(f"/api/runs/{run.id}/").json()["summary"]["truth"]
    assert sum(api[word] for word in TRUTHS) == api["requests"] == run.summary["requests"]


def test_each_sample_carries_its_truth_in_every_form(viktor: Client, house: House) -> None:
    address = f"/api/runs/{house.runs['done'].id}/samples/"
    rows = viktor.get(address).json()["results"]
    assert {row["truth"] for row in rows} <= {*TRUTHS, None}
    assert all((row["truth"] is None) == (row["role"] == "provider") for row in rows)
    head = b"".join(viktor.get(f"{address}?format=csv").streaming_content).splitlines()[0]
    assert head.endswith(b"truth,stale_ms,existed")


def test_a_report_compares_truths(viktor: Client, house: House) -> None:
    page = shown(viktor, f"/reports/{house.report.id}/")
    assert "Answer quality by configuration" in page
    assert "False not-found per 1,000" in page


def test_runs_and_reports_from_before_are_shown_without(viktor: Client, house: House) -> None:
    run = house.runs["done"]
    Run.objects.filter(pk=run.pk).update(**summed_up({k: v for k, v in run.summary.items() if k != "truth"}))
    assert "Answer quality" not in shown(viktor, f"/runs/{run.id}/")
    report = house.report
    for row in report.result["configurations"]:
        del row["truth"]
    Report.objects.filter(pk=report.pk).update(result=report.result)
    assert "Answer quality by configuration" not in shown(viktor, f"/reports/{report.id}/")


def test_one_false_not_found_in_ten_thousand_is_seen() -> None:
    found = answer_quality.of_summary({"truth": {"fresh": 9_999, "false_not_found": 1, "requests": 10_000}})
    assert found is not None
    fresh, stale, false = found["parts"]
    assert (fresh.count, stale.count, false.count) == (9_999, 0, 1)
    assert false.width >= 29
    assert false.x + false.width == 10_000
    assert false.share == pytest.approx(1e-4)
