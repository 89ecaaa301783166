"""The first seeds. A failure names the seed and the commit that repeat it."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.federation.village.plan import FAULTS, draw
from tests.federation.village.story import lived, story
from tests.federation.village.subject import SUBJECT
from tests.soak.cores import commit
from tests.soak.subject import Failure
from tests.thorough import THOROUGH

TRIED = 40 if THOROUGH else 3
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
    assert min(drawn[fault] for fault in FAULTS) > DRAWN / 10
    for name in ("routing", "covering", "encoding", "grace_from", "cache_cap", "service_ms"):
        values = Counter(getattr(plan.settings, name) for plan in plans)
        assert len(values) > 1 and min(values.values()) > 10, name


def test_most_of_what_is_published_is_owed_and_little_is_excused() -> None:
    counts = Counter[str]()
    for seed in (0, 13):
        counts.update(story(seed)[0].ledger.counts)
    assert counts["owed"] > 50 > counts["excused"]
    assert counts["owed"] > 3 * counts["in_window"]


def test_the_same_seed_is_the_same_run_and_another_seed_another() -> None:
    assert lived(5) == lived(5)
    assert lived(5).digest != lived(11).digest
