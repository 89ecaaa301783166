"""The section of SilboPS, as small as it gets. What is fast is for the table to say, never for a test."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from benchmarks.figures import Unavailable
from benchmarks.silbops import hot_paths, rows, topics
from tests.postgresql import NoServer


def measured(part: Any) -> list[Any]:
    """Without what needs a server that is not installed here."""
    figures: list[Any] = []
    with suppress(Unavailable):
        figures.extend(part.measure(1, print))
    assert len({each.name for each in figures}) == len(figures)
    return figures


def shrink(monkeypatch: Any, part: Any, **values: Any) -> None:
    for name, value in values.items():
        monkeypatch.setattr(part, name, value)


def test_hot_paths_are_measured_of_a_tiny_size(monkeypatch: Any) -> None:
    shrink(monkeypatch, hot_paths, SUBSCRIPTIONS=60, NOTIFICATIONS=5, CHANGES=10, FEWER=5)
    figures = list(hot_paths.measure(1, print))
    assert len({each.name for each in figures}) == len(figures)
    assert [each.goal for each in figures if each.goal] == ["<= 120", "<= 1"]


def test_others_find_the_same_subscribers(monkeypatch: Any) -> None:
    """Each part compares whom they find, and raises if they differ."""
    shrink(monkeypatch, rows, QUICK_SUBSCRIPTIONS=60, NOTIFICATIONS=5, MOVES=5)
    shrink(monkeypatch, rows, server=no_server)
    assert {"60 subscriptions, a move: SQLite R*Tree / silbops"} <= {each.name for each in measured(rows)}


def no_server() -> Any:
    raise NoServer("left out: PostgreSQL takes seconds to start")


def test_topics_reach_all_who_are_owed_a_notification(monkeypatch: Any) -> None:
    shrink(monkeypatch, topics, QUICK_SUBSCRIBERS=5, NOTIFICATIONS=20, MOVES=3)
    assert measured(topics)
