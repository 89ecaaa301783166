"""Of tests on PostgreSQL, few are chosen that make every statement."""

from __future__ import annotations

from pathlib import Path

from tests.statements import Noted, chosen, read, shape


def noted(**tests: str) -> dict[str, Noted]:
    """Tests and their statements, a letter each; a capital letter says that the test has its own transactions."""
    return {name: Noted(frozenset(map(ord, made.lower())), made[:1].isupper()) for name, made in tests.items()}


def test_each_statement_is_made_twice_where_two_tests_make_it() -> None:
    tests = noted(one="abcd", two="abc", three="cd", four="d", five="ab", alone="e", none="")
    assert chosen(tests) == {"one", "two", "four", "alone"}
    assert chosen(tests, each=1) == {"one", "alone"}


def test_those_with_transactions_of_their_own_are_always_chosen_and_count() -> None:
    assert chosen(noted(one="ab", two="Ab", three="AB", four="a")) == {"two", "three"}


def test_statements_that_differ_in_values_are_the_same() -> None:
    assert shape("SELECT a FROM b WHERE c IN (%s, %s) LIMIT 21") == shape(
        "SELECT a FROM b WHERE c IN (%s, %s, %s) LIMIT 1"
    )
    assert shape("INSERT INTO b VALUES (%s, %s), (%s, %s)") == shape("INSERT INTO b VALUES (%s, %s)")
    assert shape("SELECT a FROM b") != shape("SELECT a FROM b ORDER BY a")


def test_without_a_record_nothing_is_known(tmp_path: Path) -> None:
    assert read(tmp_path / "none") == {}
