"""The verdict on a query: due, answered, older, missed."""

from __future__ import annotations

import pytest

from tests.service.ledger import Ledger, Query, Stored, Verdict


def verdict(number: int | None, *, deaths: list[tuple[float, int]], ended: float = 12.0) -> Verdict:
    ledger = Ledger()
    ledger.stored["r1"] = [Stored(1, 3, 1.0, 30.0), Stored(2, 4, 10.0, 30.0), Stored(3, 5, 11.5, 30.0)]
    ledger.deaths = deaths
    ledger.queries.append(Query("udp", "r1", 11.0, ended, number))
    return ledger.verdicts()["udp"]


@pytest.mark.parametrize(
    ("number", "deaths", "ended", "due", "answered", "older"),
    [
        pytest.param(2, [], 12.0, 1, 1, 0, id="the latest value before it began"),
        pytest.param(3, [], 12.0, 1, 1, 0, id="one that was stored meanwhile"),
        pytest.param(1, [], 12.0, 1, 1, 1, id="an older one"),
        pytest.param(None, [], 12.0, 1, 0, 0, id="no answer"),
        pytest.param(None, [(11.2, 4)], 12.0, 0, 0, 0, id="its holder died"),
        pytest.param(None, [(11.2, 3), (9.0, 4)], 12.0, 1, 0, 0, id="another died, or it died before"),
        pytest.param(None, [], 31.0, 0, 0, 0, id="it was no longer valid"),
    ],
)
def test_a_query_is_due_if_the_holder_of_the_latest_value_lives(
    number: int | None, deaths: list[tuple[float, int]], ended: float, due: int, answered: int, older: int
) -> None:
    found = verdict(number, deaths=deaths, ended=ended)
    assert (found.queries, found.due, found.answered, found.older) == (1, due, answered, older)
    assert len(found.missed) == due - answered


def test_of_a_holder_that_is_not_known_any_death_counts() -> None:
    ledger = Ledger()
    ledger.stored["r1"] = [Stored(1, None, 1.0, 30.0)]
    ledger.deaths = [(2.0, 7)]
    assert ledger.last("r1", 0.5) is None
    assert not ledger.survived(ledger.stored["r1"][0], 1.0, 3.0)
    assert ledger.survived(ledger.stored["r1"][0], 2.5, 3.0)


def test_what_a_drained_broker_gave_away_is_lost_with_any_other() -> None:
    ledger = Ledger()
    stored = Stored(1, 3, 1.0, 30.0)
    ledger.moves, ledger.deaths = [(2.0, 3)], [(1.5, 7), (4.0, 7)]
    assert ledger.survived(stored, 1.0, 3.0)
    assert not ledger.survived(stored, 1.0, 5.0)
