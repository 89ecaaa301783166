"""Two hundred seeds, and those that failed once. A failure names its seed; ``python -m tests.swarm 17`` repeats it."""

import pytest

from tests.swarm.storage import STORED
from tests.swarm.story import run

SEEDS = 200


@pytest.mark.parametrize("seed", sorted({*range(SEEDS), *STORED}))
def test_whatever_happens_seed(seed: int) -> None:
    run(seed)


def test_the_same_seed_is_the_same_run_and_another_seed_another() -> None:
    once, again, other = run(3), run(3), run(4)
    assert once == again
    assert once.digest != other.digest
