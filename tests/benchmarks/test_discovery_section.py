"""The section on bootstrapping, as small as it gets: one round, real processes."""

from __future__ import annotations

import pytest

from benchmarks import discovery
from tests.thorough import thoroughly


@thoroughly
def test_one_round_of_few_brokers_and_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "BROKERS", 6)
    monkeypatch.setattr(discovery, "CLIENTS", 24)
    figures = {each.name: each for each in discovery.measure(1, lambda line: None)}
    assert figures["one entry, last client works"].goal == "<= 10"
    assert len(figures) == 6
    assert all(each.value > 0 for each in figures.values())
