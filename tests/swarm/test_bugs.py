"""Each planted bug is found, by the first seed that did so when all were looked for, or by one of the next few."""

import pytest

from tests.swarm.bugs import BUGS
from tests.swarm.soak import first_failure

AT_MOST = 20
"""Seeds to look through, so that a change of what is drawn need not change the bank."""


@pytest.mark.parametrize("name", BUGS)
def test_it_is_found(name: str) -> None:
    bug = BUGS[name]
    assert first_failure(range(bug.seed, bug.seed + AT_MOST), bug) is not None


def test_what_is_planted_is_gone_afterwards() -> None:
    assert first_failure(range(1), BUGS["pending never expires"]) is None
    assert first_failure(range(3)) is None
