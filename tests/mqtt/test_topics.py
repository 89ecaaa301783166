"""Names in topics, and patterns."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.errors import InvalidSetting
from overlay.systems.context_broker.mqtt.topics import NoTopic, Pattern, Place, decode_name, encode_name
from tests.thorough import examples

NAME = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
PATTERN = "context/{type}/{entity}/{scope}"


@settings(max_examples=examples(200))
@given(names=st.tuples(NAME, NAME, NAME), provider=NAME)
def test_every_name_has_a_topic_that_is_read_back(names: tuple[str, str, str], provider: str) -> None:
    for text in (PATTERN, "a/{provider}/x-{entity}-y/{scope}/{type}"):
        pattern = Pattern(text)
        topic = pattern.topic(names, provider)
        assert topic is not None
        assert not re.search(r"[+#\x00]", topic) and topic.count("/") == text.count("/")
        place = pattern.place(topic)
        assert place == Place(names, provider if "{provider}" in text else None)


def test_encoding() -> None:
    assert encode_name("a/b+c#d%e$é\n") == "a%2Fb%2Bc%23d%25e%24é%0A"
    assert decode_name("100%") == "100%"
    assert decode_name("%C3%A9%2f") == "é/"
    with pytest.raises(NoTopic, match="not UTF-8"):
        decode_name("%ff")
    with pytest.raises(NoTopic, match="empty"):
        encode_name("")
    with pytest.raises(NoTopic, match="65,535"):
        Pattern(PATTERN).topic(("t", "é" * 40_000, "s"), "p")


def test_constants_stand_for_names_and_choose_entries() -> None:
    pattern = Pattern("home/{entity}/temp", {"type": "room", "scope": "temp"})
    assert pattern.filter == "home/+/temp"
    assert pattern.place("home/r1/temp") == Place(("room", "r1", "temp"), None)
    assert pattern.place("home/r1/light") is None and pattern.place("home//temp") is None
    assert pattern.topic(("room", "r1", "temp"), "p") == "home/r1/temp"
    assert pattern.topic(("car", "r1", "temp"), "p") is None


@pytest.mark.parametrize(
    ("text", "constants", "said"),
    [
        ("a/{type}/{entity}", {}, r"needs \{scope\}"),
        ("a/{kind}/{entity}", {}, r"\{kind\} is none of"),
        ("{type}/{type}/{entity}/{scope}", {}, "says type twice"),
        ("{type}/{entity}/{scope}", {"scope": "s"}, "says scope twice"),
        ("{type}{entity}/{scope}", {}, "two names in one level"),
        ("+/{type}/{entity}/{scope}", {}, "may not contain"),
        ("$SYS/{type}/{entity}/{scope}", {}, r"begins with \$"),
        ("{type}/{entity}/{scope}/{", {}, "may not contain"),
        ("{type}/{entity}/{scope}" + "/a" * 9000, {}, "has more than"),
        ("{type}/{entity}/{scope}", {"colour": "s"}, "is none of"),
    ],
)
def test_wrong_patterns_are_refused(text: str, constants: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidSetting, match=said):
        Pattern(text, constants)
