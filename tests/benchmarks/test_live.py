"""The section of the journal and the live page, as small as it gets: one round, real processes."""

from __future__ import annotations

import pytest

from benchmarks import live
from tests.thorough import thoroughly


@pytest.mark.stack
@thoroughly
def test_one_round_says_what_a_sample_and_an_open_page_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "BURST", 500)
    monkeypatch.setattr(live, "BEFORE_S", 3)
    monkeypatch.setattr(live, "PAGES", (0, 1))
    monkeypatch.setattr(live, "WINDOW_S", 2.0)
    figures = {each.name: each.value for each in live.measure(1, lambda line: None)}
    assert figures["a sample past the live window"] > 0
    assert figures["a snapshot"] > 1_000, "bytes of a whole picture"
    assert figures["all three, 1 page open"] > 0
