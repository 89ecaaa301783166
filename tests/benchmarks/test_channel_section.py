"""The section of the channel, as small as it gets: one round, real processes."""

from __future__ import annotations

import pytest

from benchmarks import channel
from tests.thorough import thoroughly


@thoroughly
def test_one_round_of_few_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, few in {"SINGLE": 20, "BATCHES": 2, "SESSIONS": 500}.items():
        monkeypatch.setattr(channel, name, few)
    figures = {each.name: each for each in channel.measure(1, lambda line: None)}
    assert all(each.value > 0 for each in figures.values())
    assert len(figures) == 2 * (4 * 3 + 3 * 2) + 2 + 1
    assert figures["memory of an idle session"].goal == "<= 1500"
