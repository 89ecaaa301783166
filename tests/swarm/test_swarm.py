"""The first seeds, and those that failed once. A failure names the seed and the commit that repeat it."""

from collections import Counter
from functools import cache

import pytest

from tests.soak.cores import commit
from tests.soak.subject import Failure, Told
from tests.swarm.plan import MORE_FAULTS, draw
from tests.swarm.storage import STORED
from tests.swarm.story import run
from tests.swarm.subject import SUBJECT
from tests.thorough import examples

SEEDS = 200
TRIED = examples(SEEDS)


@cache
def tried(seed: int) -> Told | Failure:
    return SUBJECT.try_seed(seed)


@pytest.mark.parametrize("seed", sorted({*range(TRIED), *STORED}))
def test_whatever_happens_seed(seed: int) -> None:
    told = tried(seed)
    if isinstance(told, Failure):
        pytest.fail(f"{told.trace}\nagain, at commit {commit()}: {SUBJECT.command(seed)}", pytrace=False)


def test_seeds_draw_brokers_that_take_time_tables_that_are_scanned_and_links_that_jitter() -> None:
    plans = [draw(seed) for seed in range(SEEDS)]
    scales = Counter(plan.service_scale for plan in plans)
    assert min(scales[scale] for scale in (0, 1, 10)) > SEEDS / 8
    drawn = Counter(fault for plan in plans for fault in plan.faults)
    assert min(drawn[fault] for fault in MORE_FAULTS) > SEEDS / 8
    linear = Counter((plan.scans, plan.service_scale > 0) for plan in plans if plan.config.table == "linear")
    assert len(linear) == 4
    assert min(linear.values()) > SEEDS / 16


def test_a_failure_names_the_seed_and_the_commit_that_repeat_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.swarm.story.EXCHANGES", 59)
    monkeypatch.setattr("tests.swarm.story.ask_throughout", lambda overlay, random: [])
    monkeypatch.setattr("tests.swarm.test_swarm.tried", SUBJECT.try_seed)
    with pytest.raises(pytest.fail.Exception, match=rf"again, at commit {commit()}: {SUBJECT.command(0)}$"):
        test_whatever_happens_seed(0)


def test_the_same_seed_is_the_same_run_and_another_seed_another() -> None:
    once, again, other = tried(3), run(3), tried(4)
    assert isinstance(once, Told) and isinstance(other, Told)
    assert once == again
    assert once.digest != other.digest
