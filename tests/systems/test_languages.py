"""Settings that are texts in a language of the system: checked with a position, shown in several lines, and swept."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string

from brokerweb.kit import setting_forms
from overlay.core.errors import InvalidSetting
from overlay.core.settings import InvalidText, build, check, describe, json_list, setting
from telemetry.lake.configurations import in_words
from tests.systems.echo import Echo


def rule(text: str) -> None:
    """Words joined by AND."""
    at = text.find("OR")
    if at >= 0:
        raise InvalidText(at, "OR is not a word of rules; use AND")


@dataclass(frozen=True, slots=True)
class Settings:
    rule: str = setting("a AND b", most=2000, language=rule, help="What servers answer.")
    domains: str = setting('["root"]', most=2000, language=json_list, help="The domains of servers, as a JSON list.")
    timeout_ms: float = setting(0.0, unit="ms", low=0, high=9, zero="auto", help="auto: twice the delay.")

    def __post_init__(self):
        check(self)


class Ruled(Echo):
    name, title = "ruled", "Ruled"
    Settings = Settings
    profiles = {"strict": {"rule": "a AND b AND c"}}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"rule": "a AND\n b OR c"}, "line 2, column 4: OR is not a word of rules; use AND"),
        ({"rule": "OR"}, "line 1, column 1: OR is not"),
        ({"rule": "a" * 2001}, "must have at most 2,000 characters, not 2,001"),
        ({"domains": '["a",\n b]'}, "line 2, column 2: is not JSON: Expecting value"),
        ({"domains": '{"a": 1}'}, "line 1, column 1: must be a JSON list"),
        ({"domains": "[" * 2000}, "line 1, column"),
        ({"rule": 3}, "must be text"),
    ],
)
def test_an_error_is_refused_with_its_position(values: dict, sentence: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        build(Settings, values)
    assert refused.value.field == next(iter(values))
    assert refused.value.sentence.startswith(sentence)


def test_auto_is_a_word_for_zero_and_a_profile_sets_a_text() -> None:
    assert build(Settings, {"timeout_ms": "auto"}).timeout_ms == 0
    assert Ruled().whole({"profile": "strict"})["rule"] == "a AND b AND c"


def sent(query: str) -> setting_forms.Inputs:
    return setting_forms.read(describe(Settings), "", QueryDict(query), sweeps=True)


def test_a_form_has_lines_for_it_and_shows_where_it_is_wrong() -> None:
    inputs = sent("rule=a%2C b OR c&domains=[]&timeout_ms=auto")
    page = render_to_string("parts/setting.html", {"one": inputs.inputs[0]})
    assert "<textarea" in page
    assert "a, b OR c</textarea>" in page, "a comma does not end a value"
    assert "Line 1, column 6: OR is not a word of rules; use AND" in page
    assert inputs.values == {"domains": "[]", "timeout_ms": 0}


def test_a_sweep_has_lines_for_each_value_and_labels_are_short() -> None:
    inputs = sent("rule=a AND b&rule=b%0D%0AAND c")
    assert inputs.values["rule"] == ["a AND b", "b\nAND c"]
    assert render_to_string("parts/setting.html", {"one": inputs.inputs[0]}).count("<textarea") == 2
    shown = setting_forms.shown(describe(Settings), "", {"rule": ["a AND b", "b"]}, sweeps=True)
    assert shown.inputs[0].texts == ["a AND b", "b"]
    assert in_words("rule", "a AND\n" + "b AND " * 50) == "rule a AND b AND b AND b AND b AND b AND b A…"
