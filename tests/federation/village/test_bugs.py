"""Each planted bug is found, by the first seed that did so when all were looked for, or by one of the next few."""

from __future__ import annotations

import pytest

from tests.federation.village.bugs import BUGS
from tests.federation.village.subject import SUBJECT
from tests.thorough import THOROUGH

AT_ONCE = ("nothing is withdrawn from providers", "the cache answers with anything", "not the shortest tree")
"""Planted in ``make test``, since their first seed finds them; ``make soak`` plants all."""


@pytest.mark.parametrize("name", list(BUGS) if THOROUGH else AT_ONCE)
def test_it_is_found(name: str) -> None:
    assert SUBJECT.finds(BUGS[name]) is not None


def test_what_is_planted_is_gone_afterwards() -> None:
    assert SUBJECT.first_failure(range(1), BUGS["queries never end"]) is not None
    assert SUBJECT.first_failure(range(1)) is None
