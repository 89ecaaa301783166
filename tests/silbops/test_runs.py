"""Simulated runs of SilboPS: what brokers and clients do together, by the measures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from overlay.core.engines import SIMULATED
from overlay.deployment.deployment import Deployment, run_document
from overlay.experiment.definition import checked
from overlay.journal.journal import read_journal
from overlay.sim.engine import journal_path, simulate
from overlay.systems.silbops.measuring import measures
from tests.thorough import thoroughly

LINKS = [[0, 1], [1, 2], [1, 3], [3, 4]]
WORKLOAD = {
    "publishers": 3,
    "subscribers": 6,
    "filters_max": 4,
    "constraints_max": 2,
    "attribute_names": 12,
    "string_values": 3,
    "int_values": 3,
    "square_km": 60,
    "mobility": "walk",
    "speed_m_s": 100,
    "publish_interval_s": 0.2,
    "duration_s": 4,
}


def run(directory: Path, settings: dict[str, Any], workload: dict[str, Any]) -> dict[str, Any]:
    definition = {"name": "test", "system": "silbops", "engine": SIMULATED, "topology": "t"}
    definition |= {"settings": settings, "workload": WORKLOAD | workload}
    topology: dict[str, Any] = {"name": "t", "kind": "custom", "brokers": 5, "positions": None}
    topology["links"] = [{"a": one, "b": other, "delay_ms": 1} for one, other in LINKS]
    configuration = checked(definition, {"t": topology}.get)[1][0]
    document = run_document(configuration, run="r1", seed=1, directory=str(directory))
    simulate(Deployment.from_json(json.loads(json.dumps(document)), SIMULATED))
    return dict(measures(read_journal(journal_path(directory))))


def test_all_that_is_due_comes_once_and_both_arms_deliver_the_same(tmp_path: Path) -> None:
    """Changes are slow here, so what siena loses in gaps is rare."""
    found = {arm: run(tmp_path / arm, {"arm": arm}, {}) for arm in ("silbops", "siena")}
    for of in found.values():
        assert of["due"] > 10
        assert (of["lost"], of["spurious"], of["duplicates"], of["refused"]) == (0, 0, 0, 0)
    silbops, siena = found["silbops"], found["siena"]
    assert (silbops["deliveries"], silbops["due"]) == (siena["deliveries"], siena["due"])
    assert siena["messages_per_change"] > 2 * silbops["messages_per_change"]


def test_subscribers_that_are_not_meant_lose_nothing_whoever_filters(tmp_path: Path) -> None:
    """Without ``publisher_scope`` applications drop what is not for them."""
    settings = ({"publisher_scope": True}, {"publisher_scope": False})
    brokers, applications = (run(tmp_path / str(at), one, {"admitted_share": 0.4}) for at, one in enumerate(settings))
    assert brokers["due"] == applications["due"] > 10
    assert brokers["deliveries"] == applications["deliveries"] > 10
    assert (brokers["lost"], applications["lost"]) == (0, 0)


@thoroughly
@pytest.mark.parametrize("settings", [{}, {"arm": "siena", "siena_change": "add-first"}])
def test_a_client_that_moves_loses_nothing(tmp_path: Path, settings: dict[str, Any]) -> None:
    found = run(tmp_path, settings, {"handover_interval_s": 1.5, "duration_s": 10})
    assert found["repeats"] > 0
    assert found["due"] > 10
    assert (found["lost"], found["lost_kept"], found["spurious"], found["duplicates"]) == (0, 0, 0, 0)
