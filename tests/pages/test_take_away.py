"""Every table of figures can be taken away, and says what its page says: one of its links, followed."""

from __future__ import annotations

import csv
import html
import io
import re
from typing import Any

import pyarrow.parquet as pq
from django.test import Client

from brokerweb.reports import services as reports
from telemetry.formatting import size, us
from tests.pages.furniture import House


def shown(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200, address
    return answer.content.decode()


def links(page: str) -> dict[str, str]:
    """Where the forms of the page's first table are, by what the page calls them."""
    (offered, *_) = re.findall(r"Export as (.*?)</span>", page, re.DOTALL)
    return {name: html.unescape(at) for at, name in re.findall(r'<a href="([^"]+)"[^>]*>([^<]+)</a>', offered)}


def content(answer: Any) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


def taken(browser: Client, page: str) -> list[dict[str, Any]]:
    """Its rows; the same ones in all three forms."""
    found = links(page)
    assert list(found) == ["CSV", "JSON", "Parquet"]
    csv_answer, json_answer, parquet_answer = (browser.get(address) for address in found.values())
    assert "attachment" in csv_answer["Content-Disposition"]
    rows = pq.read_table(io.BytesIO(content(parquet_answer))).to_pylist()
    whole = json_answer.json()
    for one, row in zip(whole["results"] if isinstance(whole, dict) else whole, rows, strict=True):
        assert {name: one.get(name) for name in row} == row
    lines = list(csv.DictReader(io.StringIO(content(csv_answer).decode())))
    assert [list(line) for line in lines] == [list(row) for row in rows]
    return rows


def test_each_table_of_figures_is_taken_away_as_its_page_shows_it(olga: Client, house: House) -> None:
    """One house for all four, which takes the longest of it."""
    the_configurations_of_an_experiment(olga, house)
    the_queries_of_a_run_as_they_are_chosen(olga, house)
    the_brokers_of_a_run(olga, house)
    what_a_report_found_of_each_configuration(olga, house)


def test_who_accepts_only_what_an_address_gives_is_given_it(olga: Client, house: House) -> None:
    run, report = house.runs["done"], house.report
    page = reports.directory(report) / "report.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("<p>found</p>")
    for address, accepted in (
        (f"/api/reports/{report.id}/html/", "text/html"),
        (f"/api/reports/{report.id}/configurations/?format=csv", "text/csv"),
        (f"/api/runs/{run.id}/samples/?format=csv", "text/csv"),
        (f"/api/runs/{run.id}/samples/?format=parquet", "application/vnd.apache.parquet"),
        (f"/api/experiments/{house.experiment.id}/yaml/", "application/yaml"),
        (f"/api/topologies/{house.topologies['Ring of 10'].id}/export/", "application/graphml+xml"),
    ):
        answer = olga.get(address, headers={"Accept": accepted})
        assert (answer.status_code, answer["Content-Type"].split(";")[0]) == (200, accepted), address
    refused = olga.get("/api/reports/none/html/", headers={"Accept": "text/html"})
    assert (refused.status_code, refused.json()["code"]) == (404, "not_found"), "errors are JSON for every user"


def the_configurations_of_an_experiment(olga: Client, house: House) -> None:
    page = shown(olga, f"/experiments/{house.experiment.id}/?sort=-p95")
    rows = taken(olga, page)
    assert [row["p95_us"] for row in rows] == sorted((row["p95_us"] for row in rows), reverse=True)
    for row in rows:
        assert {us(row["p50_us"]), us(row["p95_us"]), row["topology"]} <= set(re.findall(r">([^<>]+)<", page))
    assert sum(row["runs"] for row in rows) == house.experiment.runs.count()
    assert olga.get(links(page)["CSV"].replace("-p95", "spin")).json()["field"] == "sort"
    assert olga.get(links(page)["CSV"].replace("csv", "pdf")).json()["field"] == "format"


def the_queries_of_a_run_as_they_are_chosen(olga: Client, house: House) -> None:
    page = shown(olga, house.queries[0].split("queries/")[0] + "queries/?show=longest")
    rows = taken(olga, page)
    assert [row["hops"] for row in rows] == sorted((row["hops"] for row in rows), reverse=True)
    assert len(rows) == page.count("<tr data-row>")
    assert olga.get(links(page)["CSV"].replace("csv", "pdf")).json()["field"] == "format"


def the_brokers_of_a_run(olga: Client, house: House) -> None:
    run = house.runs["done"]
    page = shown(olga, f"/runs/{run.id}/")
    rows = taken(olga, page)
    assert [row["uss_bytes"] for row in rows] == [one["uss_bytes"] for one in run.summary["memory"]["brokers"]]
    assert all(size(row["uss_bytes"]) in page for row in rows)
    assert olga.get(links(page)["CSV"].replace("csv", "pdf")).json()["field"] == "format"


def what_a_report_found_of_each_configuration(olga: Client, house: House) -> None:
    page = shown(olga, f"/reports/{house.report.id}/")
    rows = taken(olga, page)
    for row, told in zip(rows, house.report.result["configurations"], strict=True):
        assert row["mean_us"] == told["response"]["from_intended"]["mean"]["value"]
        assert row["p95_us_low"] == told["response"]["from_intended"]["p95"]["low"]
        assert us(row["p99_us"]) in page
        assert row["answered"] == told["outcomes"]["answered"]
        assert row["runs"] == told["runs"]
    parquet = olga.get(f"/reports/{house.report.id}/report.parquet")
    assert pq.read_table(io.BytesIO(parquet.content)).to_pylist() == rows
    assert olga.get(f"/reports/{house.report.id}/report.pdf").status_code == 404
