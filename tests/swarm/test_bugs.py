"""Each planted bug is found, by the first seed that did so when all were looked for, or by one of the next few."""

import pytest

from tests.swarm.bugs import BUGS
from tests.swarm.subject import SUBJECT
from tests.thorough import THOROUGH

FEW = 5
"""One in so many is planted in ``make test``; ``make soak`` plants all."""


@pytest.mark.parametrize("name", list(BUGS)[:: 1 if THOROUGH else FEW])
def test_it_is_found(name: str) -> None:
    assert SUBJECT.finds(BUGS[name]) is not None


def test_what_is_planted_is_gone_afterwards() -> None:
    assert SUBJECT.first_failure(range(1), BUGS["pending never expires"]) is None
    assert SUBJECT.first_failure(range(3)) is None
