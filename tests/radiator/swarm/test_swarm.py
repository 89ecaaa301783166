"""The first seeds. A failure names the seed and the commit that repeat it."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.radiator.swarm.plan import FAULTS, draw
from tests.radiator.swarm.story import lived, story
from tests.radiator.swarm.subject import SUBJECT
from tests.soak.cores import commit
from tests.soak.subject import Failure
from tests.thorough import examples

TRIED = examples(80)
DRAWN = 200


@pytest.mark.parametrize("seed", range(TRIED))
def test_whatever_happens_seed(seed: int) -> None:
    told = SUBJECT.try_seed(seed)
    if isinstance(told, Failure):
        pytest.fail(f"{told.trace}\nagain, at commit {commit()}: {SUBJECT.command(seed)}", pytrace=False)
    assert told.simulated_s > 0


def test_every_fault_and_every_kind_of_setting_is_drawn() -> None:
    plans = [draw(seed) for seed in range(DRAWN)]
    drawn = Counter(fault for plan in plans for fault in plan.faults)
    assert min(drawn[fault] for fault in FAULTS) > DRAWN / 8
    for name in ("index", "codec", "flush", "aggregability", "aggregation", "chainability", "accounting", "chain_base"):
        values = Counter(getattr(plan.settings, name) for plan in plans)
        assert len(values) > 1 and min(values.values()) > 2, name


def test_stories_have_chains_repairs_aggregates_and_losses() -> None:
    counts, states = Counter[str](), Counter[str]()
    for seed in range(1, 5):
        for life in story(seed).lives:
            counts.update(life.server.propagations.counts)
            states.update(life.ledger.states.values())
    assert counts["originals"] > 1.2 * counts["propagations"] > 100
    assert 0 < counts["repairs"] < counts["chains"] < counts["pushes"]
    assert states["delivered"] > states["failed"] > 0 < states["dropped_unreachable"]


def test_the_same_seed_is_the_same_run_and_another_seed_another() -> None:
    assert lived(3) == lived(3)
    assert lived(3).digest != lived(4).digest
