"""The usual form of a payload."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.core.errors import InvalidSetting
from overlay.systems.context_broker.clients.payload import format_pairs, parse_pairs

TEXT = st.text(st.characters(exclude_characters=";=", exclude_categories=["Cs"]))


@given(st.dictionaries(TEXT.filter(bool), TEXT, min_size=1))
def test_what_is_formatted_is_parsed_back(pairs: dict[str, str]) -> None:
    assert parse_pairs(format_pairs(pairs)) == pairs


@pytest.mark.parametrize("text", ["", "free text", "a=1;;b=2", "=1", "a=1;a=2", "a=b=c"])
def test_another_form_is_no_pairs(text: str) -> None:
    assert parse_pairs(text) is None


def test_one_semicolon_may_end_it() -> None:
    assert parse_pairs("a=1;b=;") == {"a": "1", "b": ""}


@pytest.mark.parametrize("pairs", [{"": "1"}, {"a;b": "1"}, {"a": "1;b=2"}])
def test_pairs_that_would_read_back_differently_are_refused(pairs: dict[str, str]) -> None:
    with pytest.raises(InvalidSetting, match="payload"):
        format_pairs(pairs)
