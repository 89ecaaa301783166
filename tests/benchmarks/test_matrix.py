"""The study that the browser's section opens, as small as it gets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchmarks import matrix
from brokerweb.experiments.models import Run


@pytest.mark.django_db
def test_every_run_has_its_figures_and_the_report_tells_of_all(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    settings.VAR, settings.RUNS, settings.LAKE = tmp_path, tmp_path / "runs", tmp_path / "lake"
    monkeypatch.setattr(matrix, "REPLICATES", 2)
    monkeypatch.setattr(matrix, "CONSUMERS", [50, 1_000])
    monkeypatch.setattr(matrix, "INTERVALS_S", [1.0])
    made = matrix.seed(User.objects.create_superuser("olga"))
    assert made.runs == Run.objects.filter(state="done", figures__p95__gt=0).count() == 5 * 2 * 2 + 2
    few, many = (
        Run.objects.filter(configuration__topology__kind="ring", configuration__workload__consumers=consumers)
        .order_by("figures__p50")
        .last()
        for consumers in (50, 1_000)
    )
    assert few is not None
    assert many is not None
    assert few.figures["p50"] < many.figures["p50"]
    assert len(made.report.result["configurations"]) == 10
    client.force_login(made.owner)
    assert client.get(f"/reports/{made.report.pk}/").status_code == 200
