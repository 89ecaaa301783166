"""Trusted Python functions, named by an entry point."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint
from itertools import count
from typing import Any

import pytest

from overlay.systems.radiator.language import installed
from overlay.systems.radiator.language.aggregability import aggregability
from overlay.systems.radiator.language.source import InvalidExpression

calls = count(1)


def by_level(s: Mapping[str, Any], r: Mapping[str, Any]) -> Mapping[str, int]:
    return {"volume": s["attributes"]["level"] + r["attributes"]["level"]}


by_level.reads = ("level",)  # type: ignore[attr-defined]


def by_id(s: Mapping[str, Any], r: Mapping[str, Any]) -> Mapping[str, int]:
    return {"volume": len(r["id"]) + len(s["people"])}


def by_turn(s: Mapping[str, Any], r: Mapping[str, Any]) -> Mapping[str, int]:
    return {"volume": next(calls)}


@pytest.fixture(autouse=True)
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("by_level", "by_id", "by_turn", "calls", "missing")
    points = [EntryPoint(name, f"{__name__}:{name}", installed.GROUP) for name in names]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points if group == installed.GROUP else [])


def test_an_installed_function_is_an_aggregability() -> None:
    function = aggregability("python:by_level", "{people: 99}")
    assert function.evaluate({"level": 2}, ("Alice",), {"level": 3}, "bob") == ("volume", 5)
    assert function.reads == {"level"}
    assert function.class_key({"level": 1, "x": 2}, "bob") == function.class_key({"level": 1}, "eve")


def test_whatever_it_raises_or_returns_is_a_failure_at_most() -> None:
    function = aggregability("python:by_level", "{people: 99}")
    for level in ("x", None, [1], 1e308 * 10):
        assert function.evaluate({"level": level}, ("Alice",), {"level": 3}, "bob") == ("people", 99)
    assert function.errors == 4


def test_one_that_declares_nothing_may_read_all_of_the_recipient() -> None:
    function = aggregability("python:by_id")
    assert function.evaluate({}, ("Alice",), {}, "bob") == ("volume", 4)
    assert function.reads is None
    keys = {function.class_key(attributes, name) for attributes in ({}, {"x": 1}) for name in ("bob", "eve")}
    assert len(keys) == 4


def test_checked_mode_finds_a_function_that_is_not_pure() -> None:
    assert aggregability("python:by_id", is_checked=True).evaluate({}, ("Alice",), {}, "bob") == ("volume", 4)
    with pytest.raises(AssertionError, match="is not pure"):
        aggregability("python:by_turn", is_checked=True).evaluate({}, ("Alice",), {}, "bob")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "python:by_leve",
            "no installed package has a function 'by_leve' in the group waxwing.radiator; did you mean by_level?",
        ),
        ("python:calls", "'calls' is no function"),
    ],
)
def test_one_that_is_not_there_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidExpression) as refused:
        aggregability(text)
    assert (refused.value.sentence, refused.value.at) == (reason, 7)


def test_one_that_cannot_be_imported_is_refused() -> None:
    with pytest.raises(InvalidExpression, match="'missing' cannot be imported: module"):
        aggregability(" python:missing")
