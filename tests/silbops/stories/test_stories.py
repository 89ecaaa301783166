"""The first seeds, and planted bugs that they must find. A failure names the seed and the commit that repeat it."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.silbops.stories.bugs import BUGS
from tests.silbops.stories.plan import FAULTS, draw
from tests.silbops.stories.subject import SUBJECT
from tests.soak.cores import commit
from tests.soak.subject import Failure
from tests.thorough import THOROUGH

FAILED = (156, 184, 218, 286, 287, 363, 408, 431, 433, 434, 439, 526)
"""Seeds that failed once."""
TRIED = (*range(40), *FAILED) if THOROUGH else (0, 1, 12)
DRAWN = 200
DRAWN_TOO = {
    "siena_change": "remove-first",
    "prune": "advertisement",
    "index": "cells",
    "keep_messages": 0,
    "keep_s": 0,
    "handover_s": 0,
    "channel_window": 1,
    "channel_frame": 200,
}
"""A value of each that some seeds have."""
AT_ONCE = ("they wait for a queue that is gone", "contexts never change")
"""Planted in ``make test``, since their first seed finds them; ``make soak`` plants all."""


@pytest.mark.parametrize("seed", TRIED)
def test_whatever_happens_seed(seed: int) -> None:
    told = SUBJECT.try_seed(seed)
    if isinstance(told, Failure):
        pytest.fail(f"{told.trace}\nagain, at commit {commit()}: {SUBJECT.command(seed)}", pytrace=False)
    assert told.delivered > 0


def test_every_fault_and_every_kind_of_setting_is_drawn() -> None:
    plans = [draw(seed) for seed in range(DRAWN)]
    drawn = Counter(fault["what"] for plan in plans for fault in plan.faults)
    assert min(drawn[fault] for fault in FAULTS) > DRAWN / 20
    for name in ("arm", "covering", "index", "scope_batch", "channel_queue", "publisher_context", "prune"):
        assert len({plan.settings.get(name) for plan in plans}) > 1, name
    for name in ("handover_interval_s", "admitted_share", "changing_subscribers"):
        assert len({plan.workload.get(name) for plan in plans}) > 1, name
    for name, value in DRAWN_TOO.items():
        assert any(plan.settings.get(name) == value for plan in plans), (name, value)
    assert any(plan.settings.get("ttl_s") for plan in plans)


def test_publications_of_a_publisher_that_change_places_are_late() -> None:
    """Nothing else is wrong with them."""
    found = SUBJECT.try_seed(15, BUGS["two publications change places"])
    assert isinstance(found, Failure)
    assert found.said.startswith("AssertionError: {'late': ")


@pytest.mark.parametrize("name", list(BUGS) if THOROUGH else AT_ONCE)
def test_a_planted_bug_is_found(name: str) -> None:
    assert SUBJECT.finds(BUGS[name]) is not None
