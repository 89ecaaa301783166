"""The first seeds, and planted bugs that they must find. A failure names the seed and the commit that repeat it."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.contextnet.stories.bugs import BUGS
from tests.contextnet.stories.plan import FAULTS, draw
from tests.contextnet.stories.subject import SUBJECT
from tests.soak.cores import commit
from tests.soak.subject import Failure
from tests.thorough import THOROUGH

FAILED = (0, 10, 12, 55, 161, 247)
"""Seeds that failed once: readers that spun, a window of one that grew, records passed over at a move, answers without
room, a message to a group that was under way at the end."""
TRIED = sorted({*range(40), *FAILED} if THOROUGH else {*range(4), *FAILED})
DRAWN = 200
AT_ONCE = ("the pool never empties", "readers without room spin", "records from before a move are passed over")
"""Planted in ``make test``; ``make soak`` plants all."""


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
    for name in ("window", "pool_size", "resume", "linger_s", "routing", "balancing", "partitions", "durability"):
        assert len({plan.settings[name] for plan in plans}) > 1, name
    for name in ("direction", "gateways", "definers", "disconnect", "reconnect_to", "address_change_per_h"):
        assert len({plan.workload.get(name) for plan in plans}) > 1, name


@pytest.mark.parametrize("name", list(BUGS) if THOROUGH else AT_ONCE)
def test_a_planted_bug_is_found(name: str) -> None:
    assert SUBJECT.finds(BUGS[name]) is not None
