"""Retention: what is removed when, what never is, and what whoever looks for it is told."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from brokerweb.control.runs import claim
from brokerweb.experiments import history, labels
from brokerweb.experiments.models import Run, RunState
from brokerweb.networks.models import Host
from brokerweb.retention import removal, services
from brokerweb.storage import files, free_space
from brokerweb.storage.eviction import Item, choose
from telemetry.collect import collect
from telemetry.lake.runs import Lake, RunFiles
from telemetry.sweep.simulation import MADE_BY, simulator_version
from tests.pages.summed_up import summed_up
from tests.telemetry.synthetic import Script, write_run

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def ended(api: APIClient, ring: dict, house: Path) -> Callable[..., Run]:
    """Makes a run that was measured, collected and ended so many days ago."""
    experiment = api.post("/api/experiments/", {"name": "e", "topology": ring["id"]}, format="json").json()

    def make(days_ago: float) -> Run:
        run = Run.objects.get(pk=api.post(f"/api/experiments/{experiment['id']}/launch/").json()["runs"][0])
        topology = run.configuration["topology"]
        written = write_run(house / "runs" / run.id, Script(brokers=topology["brokers"], seconds=2), topology=topology)
        summary = collect(written, Lake(house / "lake"))
        ended_at = timezone.now() - days_ago * DAY
        Run.objects.filter(pk=run.pk).update(state=RunState.DONE, **summed_up(summary), ended_at=ended_at)
        run.refresh_from_db()
        return run

    return make


def removed() -> set[str]:
    return set(Run.objects.filter(files_removed__isnull=False).values_list("pk", flat=True))


def test_without_a_limit_nothing_is_ever_removed(ended: Callable[..., Run], api: APIClient) -> None:
    ended(4_000)
    removal.turn()
    assert removed() == set()
    assert api.post("/api/storage/apply/").status_code == 409


def test_by_age_the_files_go_and_the_summary_the_events_and_the_configuration_stay(
    ended: Callable[..., Run], api: APIClient, house: Path
) -> None:
    old, young = ended(100), ended(2)
    before = api.get(f"/api/runs/{old.pk}/").json()
    happened = [(entry.at, entry.name) for entry in history.of_run(old)]
    removal.turn()
    preview = api.post("/api/storage/preview/", {"max_days": 90}, format="json").json()
    assert (preview["runs"], preview["bytes"] > 10_000) == (1, True)
    assert removed() == set(), "a preview removes nothing"

    api.patch("/api/storage/", {"max_days": 90}, format="json")
    removal.turn()
    assert removed() == {old.pk}
    kept = sorted(path.name for path in (house / "runs" / old.pk).rglob("*"))
    assert kept == ["manifest.json"]
    assert not Lake(house / "lake").part("samples", old.pk).exists()
    assert RunFiles(house / "runs" / young.pk).journals()

    after = api.get(f"/api/runs/{old.pk}/").json()
    assert (after["summary"], after["configuration"]) == (before["summary"], before["configuration"])
    still = [(entry.at, entry.name) for entry in history.of_run(old)]
    assert still[: len(happened)] == happened
    assert still[-1][1] == "files removed"
    answer = api.get(f"/api/runs/{old.pk}/samples/")
    assert answer.status_code == 404
    assert "Retention deleted" in answer.json()["sentence"]


def test_by_size_the_oldest_go_first_until_it_fits(ended: Callable[..., Run]) -> None:
    oldest, older, _young = ended(3), ended(2), ended(1)
    removal.weigh_runs()
    each = free_space.run_bytes()
    assert each is not None
    policy = services.policy()
    policy.max_bytes = round(each * 1.5)
    policy.save()
    removal.turn()
    assert removed() == {oldest.pk, older.pk}


def test_what_is_kept_running_reported_on_or_awaited_is_never_removed(
    ended: Callable[..., Run], api: APIClient
) -> None:
    kept, reported, awaited, plain = ended(100), ended(100), ended(100), ended(100)
    running = ended(100)
    Run.objects.filter(pk=running.pk).update(state=RunState.MEASURING)
    labels.set_kept(kept, True)
    report = api.post("/api/reports/", {"runs": [reported.pk]}, format="json").json()
    api.post(f"/api/runs/{awaited.pk}/rerun/")
    services.change({"max_days": 1})
    removal.turn()
    assert removed() == {plain.pk}

    api.post(f"/api/reports/{report['id']}/cancel/")
    removal.turn()
    assert removed() == {plain.pk, reported.pk}


def test_a_report_is_not_made_of_runs_whose_samples_are_gone(ended: Callable[..., Run], api: APIClient) -> None:
    run = ended(100)
    services.change({"max_days": 1})
    removal.turn()
    answer = api.post("/api/reports/", {"runs": [run.pk]}, format="json")
    assert (answer.status_code, "retention deleted the samples" in answer.json()["sentence"]) == (400, True)


def test_a_removal_that_was_broken_off_is_finished_by_the_next_turn(ended: Callable[..., Run], house: Path) -> None:
    run = ended(1)
    removal.weigh_runs()
    run.footprint.removing = True
    run.footprint.save()
    Run.objects.filter(pk=run.pk).update(files_removed=timezone.now())
    removal.turn()
    run.footprint.refresh_from_db()
    assert (RunFiles(house / "runs" / run.pk).journals(), run.footprint.removing) == ([], False)


def test_kept_simulations_of_earlier_simulators_go_first_and_none_while_one_may_be_linked(
    ended: Callable[..., Run], api: APIClient, ring: dict, house: Path
) -> None:
    for name, made_by in (("earlier", ""), ("current", simulator_version("context-broker"))):
        kept = house / "simulated" / name
        (kept / "journal").mkdir(parents=True)
        (kept / "journal" / "broker-0.journal").write_bytes(b"x" * 1_000)
        (kept / MADE_BY).write_text(made_by)
    services.change({"max_days": 30})
    body = {"name": "s", "topology": ring["id"], "engine": "simulated"}
    experiment = api.post("/api/experiments/", body, format="json").json()
    run = api.post(f"/api/experiments/{experiment['id']}/launch/").json()["runs"][0]
    removal.turn()
    assert (house / "simulated" / "earlier").exists()
    api.post(f"/api/runs/{run}/cancel/")
    removal.turn()
    assert sorted(path.name for path in (house / "simulated").iterdir()) == ["current"]


def test_a_kept_simulation_goes_as_a_whole_however_its_removal_ends(
    house: Path, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = house / "simulated" / "earlier"
    (kept / "journal").mkdir(parents=True)
    (kept / "journal" / "broker-0.journal").write_bytes(b"x" * 1_000)
    services.change({"max_days": 30})
    with monkeypatch.context() as crash, pytest.raises(KeyboardInterrupt):
        crash.setattr(files, "remove_set_aside", ends_the_worker)
        removal.apply(services.policy(), timezone.now())
    assert not kept.exists()
    assert files.kept_simulations() == []
    removal.turn()
    assert list((house / "simulated").iterdir()) == []


def ends_the_worker() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"max_days": 0}, "max_days"),
        ({"max_gb": -1}, "max_gb"),
        ({"max_gb": "much"}, "max_gb"),
        ({"least_free_gb": 0}, "least_free_gb"),
        ({"include_reports": "yes"}, "include_reports"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_policy_is_named_and_not_set(api: APIClient, body: dict[str, Any], field: str) -> None:
    answer = api.patch("/api/storage/", body, format="json")
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert not services.policy().is_on


def test_with_too_little_space_nothing_is_launched_and_it_says_what_a_run_takes(
    ended: Callable[..., Run], api: APIClient, ring: dict
) -> None:
    removal.weigh_runs()
    ended(1)
    removal.weigh_runs()
    Host.objects.create(name="here", heartbeat=timezone.now())
    body = {"name": "waits", "topology": ring["id"]}
    made = api.post("/api/experiments/", body, format="json").json()
    run = api.post(f"/api/experiments/{made['id']}/launch/").json()["runs"][0]
    services.change({"least_free_gb": 1_000_000})

    refused = api.post(f"/api/experiments/{made['id']}/launch/")
    assert (refused.status_code, refused.json()["field"]) == (400, "disk")
    assert "a run takes about" in refused.json()["sentence"]
    assert claim("here", "reconciler") is None
    assert "but launches need" in api.get(f"/api/runs/{run}/").json()["waiting_for"]
    services.change({"least_free_gb": 0.05})
    assert claim("here", "reconciler") is not None


def test_who_may_only_look_sees_it_and_changes_nothing(viewer: User, db: None) -> None:
    client = APIClient()
    client.force_authenticate(viewer)
    assert client.get("/api/storage/").json()["policy"]["max_days"] is None
    assert client.patch("/api/storage/", {"max_days": 1}, format="json").status_code == 403
    assert client.post("/api/storage/apply/").status_code == 403


def test_a_file_of_several_names_is_weighed_once(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "a" / "x").write_bytes(b"x" * 1_000)
    (tmp_path / "b" / "x").hardlink_to(tmp_path / "a" / "x")
    assert files.weigh(tmp_path / "a") + files.weigh(tmp_path / "b") == 1_000


ITEMS = st.lists(
    st.builds(
        Item,
        kind=st.sampled_from(["simulated", "run", "report"]),
        key=st.text("abc", min_size=1, max_size=4),
        bytes=st.integers(0, 1_000),
        at=st.integers(0, 400).map(lambda days: NOW - days * DAY),
        is_stale=st.booleans(),
    ),
    unique_by=lambda item: (item.kind, item.key),
    max_size=12,
)


@given(
    items=ITEMS,
    days=st.none() | st.integers(1, 400),
    most=st.none() | st.integers(0, 5_000),
    pinned=st.integers(0, 2_000),
)
def test_what_is_chosen_keeps_the_limits_and_no_more_than_they_ask_for(
    items: list[Item], days: int | None, most: int | None, pinned: int
) -> None:
    chosen = choose(items, NOW, max_days=days, max_bytes=most, pinned_bytes=pinned)
    assert len(set(chosen)) == len(chosen)
    left = [item for item in items if item not in chosen]
    if days is None and most is None:
        assert chosen == []
        return
    assert not any(item.is_stale for item in left)
    if days is not None:
        assert all(item.at >= NOW - days * DAY for item in left)
    if most is not None:
        total = pinned + sum(item.bytes for item in left)
        assert total <= most or not any(item.bytes for item in left)
        by_size = [item for item in chosen if not item.is_stale and (days is None or item.at >= NOW - days * DAY)]
        if by_size:
            assert total + by_size[-1].bytes > most, "the last one was needed"
