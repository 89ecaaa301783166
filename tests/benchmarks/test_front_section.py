"""The section of the front, as small as it gets: one round, real processes."""

from __future__ import annotations

import pytest

from benchmarks import front, streams
from tests.thorough import thoroughly


@pytest.mark.stack
@thoroughly
def test_one_round_asks_the_front_and_what_it_is_compared_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front, "BURST", 20)
    for name, value in [("LISTENERS", 5), ("SECONDS", 1.0), ("WARM_S", 0.1)]:
        monkeypatch.setattr(streams, name, value)
    figures = {each.name: each for each in front.measure(1, lambda line: None)}
    assert figures["front, ask, one connection, p50"].goal == "<= 1500"
    assert figures["front, ask, 8 connections, per core in use"].goal == ">= 2500"
    assert figures[f"{streams.WHAT}, lost events"].value == 0
    may_be_none = ("lost", "memory", "growth")
    assert all(each.value > 0 for name, each in figures.items() if not any(word in name for word in may_be_none))
    assert {each.section for each in figures.values()} == {"front"}
