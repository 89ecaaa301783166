"""The section of ContextNet, as small as it gets. What is fast is for the table to say, never for a test."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from benchmarks.contextnet import connected, hot_paths, peers
from benchmarks.figures import Unavailable


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


def test_the_gateway_and_the_least_python_make_the_same_exchange(monkeypatch: Any) -> None:
    shrink(monkeypatch, hot_paths, NODES=(40,), CALLS=5)
    figures = measured(hot_paths)
    assert [each.name for each in figures if each.goal] == ["a message and its answer, 40 nodes"]


def test_memory_is_that_of_each_connection(capsys: Any) -> None:
    connected.main("50")
    assert float(capsys.readouterr().out) > 0


def test_all_messages_are_answered_by_echoes_and_by_the_peers_that_are_installed(monkeypatch: Any) -> None:
    shrink(monkeypatch, peers, NODES=(5,), RATE_PER_MIN=300.0, MESSAGES=2)
    shares = [each.value for each in measured(peers) if each.name.endswith(": answered")]
    assert len(shares) >= 2
    assert set(shares) == {100.0}
