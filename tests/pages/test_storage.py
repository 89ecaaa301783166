"""The page of the disk: what it shows, what a rule would remove before it is saved, and what a run says afterwards."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Run
from brokerweb.kit.disk import WARNED_FROM, Disk
from brokerweb.retention import removal, services
from brokerweb.topologies import services as topologies
from tests.pages.furniture import finish

RULE = {"max_days": "90", "max_gb": "", "least_free_gb": "0.5", "include_simulated": "on"}


@pytest.fixture
def aged(operator: User) -> Run:
    """A run of a hundred days ago."""
    ring = topologies.create(name="ring", kind="ring", brokers=4)
    experiment = experiments.create({"name": "e", "topology": ring.id}, operator)
    run = finish(experiments.launch(experiment, operator).runs[0])
    Run.objects.filter(pk=run.pk).update(ended_at=timezone.now() - timedelta(days=100))
    removal.turn()
    return run


def test_a_rule_is_tried_saved_and_carried_out(olga: Client, aged: Run) -> None:
    assert "Nothing has been deleted" in olga.get("/storage/").content.decode()
    tried = olga.post("/storage/preview/", RULE).content.decode()
    assert "the files of <strong>1 run</strong>" in tried
    assert "Summaries are kept." in tried
    assert not services.policy().is_on

    saved = olga.post("/storage/change/", RULE, follow=True).content.decode()
    assert "Expired files are deleted within minutes." in saved
    done = olga.post("/storage/apply/", follow=True).content.decode()
    assert "Deleted the files of 1 run:" in done
    assert olga.get(f"/runs/{aged.id}/").status_code == 200
    again = olga.post("/storage/apply/", follow=True).content.decode()
    assert "No files had expired." in again


def test_what_is_wrong_is_said_beside_the_field_and_what_was_typed_stays(olga: Client) -> None:
    answer = olga.post("/storage/change/", {**RULE, "max_days": "soon", "max_gb": "12.5"})
    page = answer.content.decode()
    assert answer.status_code == 400
    assert "Must be a number from 1 to 36,500, not" in page
    assert 'value="soon"' in page
    assert 'value="12.5"' in page
    assert not services.policy().is_on
    assert "must be a number" in olga.post("/storage/preview/", {**RULE, "max_gb": "-3"}).content.decode()


def test_a_run_that_is_kept_is_passed_by(olga: Client, aged: Run) -> None:
    assert "1 run" in olga.post("/storage/preview/", RULE).content.decode()
    olga.post(f"/storage/runs/{aged.id}/keep/", {"kept": "yes"})
    assert "Nothing would be deleted now." in olga.post("/storage/preview/", RULE).content.decode()


def test_who_may_only_look_sees_the_rule_and_no_button(viktor: Client) -> None:
    page = viktor.get("/storage/").content.decode()
    assert "no limit" in page
    assert "<button" not in page.split("Retention policy")[1].split("Deletion history")[0]
    assert viktor.post("/storage/change/", RULE).status_code == 403
    assert viktor.post("/storage/apply/").status_code == 403


def test_a_disk_that_is_nearly_full_is_said_on_the_home_page_and_here(olga: Client, monkeypatch: Any) -> None:
    full = Disk(total=100_000_000_000, free=9_000_000_000)
    for name in ("brokerweb.live.overview.disk", "brokerweb.retention.services.disk"):
        monkeypatch.setattr(name, lambda: full)
    assert "The disk is 91\u202f% full." in olga.get("/").content.decode()
    assert "9.00\u202fGB free" in olga.get("/storage/").content.decode()
    assert WARNED_FROM == 0.85
