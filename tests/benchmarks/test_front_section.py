"""The section of the front, as small as it gets: one round, real processes."""

from __future__ import annotations

import pytest

from benchmarks import front
from tests.thorough import thoroughly


@pytest.mark.stack
@thoroughly
def test_one_round_asks_the_front_and_what_it_is_compared_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front, "BURST", 20)
    figures = {each.name: each for each in front.measure(1, lambda line: None)}
    assert figures["front, ask, one connection, p50"].goal == "<= 1500"
    assert figures["front, ask, 8 connections, per core in use"].goal == ">= 2500"
    assert all(each.value > 0 for each in figures.values())
    assert {each.section for each in figures.values()} == {"front"}
