"""Whether a workload makes brokers search: the estimate before a run, compared with the run's measurement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from overlay.core.engines import SIMULATED
from overlay.deployment.deployment import Deployment
from overlay.sim.engine import simulate
from overlay.systems.context_broker.searches import remark, searched_share, warning
from overlay.systems.registry import SYSTEMS
from telemetry.collect import collect
from telemetry.lake.runs import Lake, RunFiles
from tests.sim.test_engine import document

WORKLOAD = {"providers": 50, "consumers": 50, "update_interval_s": 2, "request_interval_s": 2, "duration_s": 20}
WORKLOAD |= {"stagger_ms": 50, "valid_ms": 120_000}
SYSTEM = SYSTEMS["context-broker"]


def both(directory: Path, settings: dict[str, Any], **workload: Any) -> tuple[float, dict[str, Any]]:
    """The share estimated, and what the same run in virtual time measured."""
    whole = {**WORKLOAD, **workload}
    links = [{"a": i, "b": (i + 1) % 10, "delay_ms": 1} for i in range(10)]
    wanted = document(
        directory / "run-1", topology={"brokers": 10, "links": links}, settings=settings, workload=whole, seed=3
    )
    simulate(Deployment.from_json(wanted, SIMULATED))
    files = RunFiles(directory / "run-1")
    files.write_manifest({"run": "run-1", "engine": SIMULATED})
    configuration = {"topology": wanted["topology"], "settings": SYSTEM.whole(settings), "workload": whole}
    return searched_share(configuration, 3), collect(files, Lake(directory / "lake"))


def test_one_entity_that_every_asked_broker_soon_keeps_is_said_before_and_after(tmp_path: Path) -> None:
    share, summary = both(tmp_path, {})
    assert warning(share) == "no query will leave its broker: raise entities, lower holders or turn replication off"
    assert remark(summary) == "no query left its broker: raise entities, lower holders or turn replication off"


@pytest.mark.parametrize(
    ("settings", "workload"),
    [
        ({}, {"entities": 50}),
        ({"replication": "none"}, {"holders": 1}),
        ({}, {"valid_ms": 5_000, "holders": 1}),  # below the replication threshold nothing is replicated
    ],
)
def test_what_exercises_the_overlay_is_not_warned_of(
    tmp_path: Path, settings: dict[str, Any], workload: dict[str, Any]
) -> None:
    share, summary = both(tmp_path, {"walk_policy": "backtrack", **settings}, **workload)
    assert (warning(share), remark(summary)) == ("", "")
    assert summary["messages_per_query"] > share / 2, "each search takes a message at least"


def test_without_replicas_the_share_is_that_of_the_plan(tmp_path: Path) -> None:
    """A message for each query that leaves, where all data are one hop away in a full mesh."""
    links = [{"a": a, "b": b} for a in range(10) for b in range(a)]
    settings = {"replication": "none", "search": "flood", "flood_ttl": 1}
    workload = {**WORKLOAD, "holders": 2}
    configuration = {"topology": {"brokers": 10, "links": links}, "settings": SYSTEM.whole(settings)}
    share = searched_share({**configuration, "workload": workload}, 3)
    assert share in (0.6, 0.8, 1.0), "of five brokers that are asked two, one or none provide it"


def test_what_cannot_search_or_is_not_known_is_not_warned_of() -> None:
    alone = {"topology": {"brokers": 1, "links": []}, "settings": SYSTEM.whole({}), "workload": WORKLOAD}
    assert warning(searched_share(alone, 1)) == ""
    structured = {**alone, "topology": {"brokers": 9, "links": []}, "settings": {"arm": "structured"}}
    assert warning(searched_share(structured, 1)) == ""
    assert remark({}) == remark({"requests": 0, "messages_per_query": 0}) == ""
