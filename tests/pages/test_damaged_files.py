"""The Parquet files of a run were cut by a full disk or a crash: what people and machines are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from brokerweb.experiments.models import Run
from telemetry.lake.runs import Lake, RunFiles
from tests.pages.recorded import make_run

WHY = "is damaged: its end is missing, as after a full disk or a crash. Its data cannot be restored: rerun the run"


@pytest.fixture
def run(operator: User, var: Path) -> Run:
    """A recorded run whose files were all cut in the middle."""
    run = make_run(operator)
    lake, files = Lake(settings.LAKE), RunFiles(settings.RUNS / run.pk)
    parts = [lake.part(name, run.pk) for name in ("samples", "ticks", "events")]
    for path in (*parts, files.traces_path, files.messages_path, files.holdings_path):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return run


def test_each_address_and_page_of_the_run_names_the_file(run: Run, operator: User) -> None:
    olga = Client(raise_request_exception=False)
    olga.force_login(operator)
    rest = {
        "samples/": "samples",
        "samples/?format=csv": "samples",
        "samples/?format=parquet": "samples",
        "tables/": "events",
        "tables/ticks/": "ticks",
        "events/": "events",
        "traces/": "traces.parquet",
        f"traces/{'0' * 16}/": "traces.parquet",
        "messages/": "messages.parquet",
        "holdings/": "holdings.parquet",
        "capture/": "messages.parquet",
    }
    for address, file in rest.items():
        answer = olga.get(f"/api/runs/{run.pk}/{address}")
        assert (answer.status_code, answer["Content-Type"]) == (409, "application/json"), address
        found = answer.json()
        assert (found["code"], file in found["sentence"], WHY in found["sentence"]) == ("damaged", True, True), address
    pages = [f"/runs/{run.pk}/{page}" for page in ("log/", "replay/", "queries/", "messages.pcapng")]
    for address in (*pages, f"/wire/messages/?run={run.pk}"):
        answer = olga.get(address)
        assert (answer.status_code, WHY in answer.content.decode()) == (409, True), address
    part = olga.get(f"/runs/{run.pk}/log/", headers={"HX-Request": "true"})
    assert (part.status_code, part["X-Shown-In-Place"], "<main" in part.content.decode()) == (409, "1", False)
    page = olga.get(f"/runs/{run.pk}/")
    assert page.status_code == 200
    text = page.content.decode()
    assert "Link width: no data. The file " in text
    assert text.count("traces.parquet is damaged") + text.count("messages.parquet is damaged") == 1
    assert text.count("holdings.parquet is damaged") == 1
    chart = olga.get(f"/compare/distribution/?q=id = {run.pk}").json()
    assert chart["series"] == []
    assert any("Left out: The file " in note and WHY in note for note in chart["notes"])
