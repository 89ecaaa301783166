"""An overlay whose brokers go and come back, in virtual time: it is whole again, and its clients go on."""

import pytest

from overlay.core.node import SECOND
from overlay.journal.facts import OUTCOMES
from overlay.systems.context_broker.broker.events import NeighbourLost
from overlay.systems.context_broker.workload import Workload
from overlay.topologies import generate
from telemetry.systems.context_broker.lab.overlay import Overlay
from tests.sim.witness import Witness

QUIET = {"providers": 0, "consumers": 1, "stagger_ms": 0}
CALM = 15 * SECOND
"""After the last change the overlay is right again within this."""


def started(kind: str = "ring", seed: int = 1) -> Overlay:
    overlay = Overlay(generate(kind, 10, {"delay_ms": 2}, seed=seed), seed=seed)
    Witness(overlay)
    overlay.start()
    return overlay


def follow(overlay: Overlay, text: str) -> None:
    """Churn by a written schedule; time is then that of its beginning."""
    workload = Workload(churn="file", churn_schedule=text, **QUIET)
    overlay.add_churn(workload)
    overlay.run_for(round(workload.ramp_s() * SECOND))


@pytest.mark.parametrize("kind", ["ring", "full-mesh", "barabasi-albert"])
@pytest.mark.parametrize("churn", ["exponential", "weibull"])
def test_after_churn_the_overlay_is_whole_again(kind: str, churn: str) -> None:
    overlay = started(kind, seed=3)
    workload = Workload(
        churn=churn, duration_s=120, session_mean_s=40, downtime_mean_s=8, churn_leave_share=0.5, **QUIET
    )
    changes = overlay.add_churn(workload)
    overlay.run_for(round((workload.ramp_s() + workload.duration_s) * SECOND) + CALM)
    last = {change.broker: change.what for change in changes}
    assert set(overlay.brokers) == {broker for broker in range(10) if last.get(broker, "up") == "up"}
    assert 0 in overlay.brokers
    assert {change.what for change in changes} == {"up", "leave", "crash"}
    assert overlay.wrong_neighbours() == {}


def test_who_leaves_says_so_and_who_crashes_is_found_out() -> None:
    overlay = started()
    follow(overlay, "1 3 leave; 1 7 crash; 20 3 up; 20 7 up")
    overlay.run_for(2 * SECOND)
    assert 3 not in overlay.neighbours(2) | overlay.neighbours(4)
    assert 7 in overlay.neighbours(6) & overlay.neighbours(8)
    overlay.run_for(17 * SECOND)
    lost = {
        i for i, actor in overlay.brokers.items() if any(isinstance(event, NeighbourLost) for _, event in actor.history)
    }
    assert lost == {6, 8}
    assert set(overlay.brokers) == set(range(10)) - {3, 7}
    overlay.run_for(CALM)
    assert set(overlay.brokers) == set(range(10))
    assert overlay.wrong_neighbours() == {}


def test_who_is_wanted_back_while_still_saying_farewell_is_first_let_end() -> None:
    overlay = started()
    follow(overlay, "1 3 leave; 1.1 3 up; 5 4 leave; 5.1 4 up; 5.2 4 crash; 9 4 up; 9 4 crash; 9 4 up")
    overlay.run_for(round(1.5 * SECOND))
    assert 3 not in overlay.brokers
    overlay.run_for(SECOND)
    assert 3 in overlay.brokers
    overlay.run_for(5 * SECOND)
    assert 4 not in overlay.brokers
    overlay.run_for(CALM)
    assert overlay.wrong_neighbours() == {}
    assert set(overlay.brokers) == set(range(10))


def test_clients_go_on_through_churn_and_every_request_ends() -> None:
    overlay = started()
    workload = Workload(
        providers=20,
        consumers=20,
        update_interval_s=2,
        request_interval_s=1,
        entities=5,
        duration_s=30,
        stagger_ms=10,
        assignment="least-loaded",
        churn="exponential",
        session_mean_s=30,
        downtime_mean_s=5,
    )
    overlay.add_churn(workload)
    overlay.add_clients(workload)
    overlay.run_for(60 * SECOND)
    asked = [sample for client in overlay.clients for sample in client.facts if sample.role == "consumer"]
    outcomes = [sample.outcome for sample in asked]
    assert len(outcomes) >= 20 * 30
    assert set(outcomes) <= set(OUTCOMES)
    assert outcomes.count("answered") / len(outcomes) > 0.5
    assert outcomes.count("timed_out") > 0
