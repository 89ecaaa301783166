"""JSON payloads and the payloads of entries."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.errors import InvalidSetting
from overlay.systems.context_broker.clients.payload import format_pairs
from overlay.systems.context_broker.mqtt.payloads import FIELDS, Payloads, Said, Unfit
from overlay.systems.context_broker.mqtt.values import Value
from tests.thorough import examples

NOW = 1_700_000_000_000
WORD = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=";="), max_size=8)
NUMBER = (
    st.integers().map(str)
    | st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str)
    | st.floats().map(str)
)
PAIRS = st.dictionaries(WORD.filter(lambda name: name and name not in FIELDS), WORD | NUMBER, min_size=1, max_size=5)


def value(payload: bytes) -> Value:
    return Value("sensor 1", ("room", "r1", "temp"), NOW, NOW, NOW + 60_000, payload)


@settings(max_examples=examples(200))
@given(payload=PAIRS.map(format_pairs) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_every_payload_comes_back_unchanged(payload: str) -> None:
    try:
        data = Payloads().write(value(payload.encode()))
    except Unfit:
        assert any(name in payload for name in FIELDS)
        return
    assert isinstance(json.loads(data), dict)
    said = Payloads().read(data)
    assert (said.provider, said.timestamp, said.valid_end) == ("sensor 1", NOW, NOW + 60_000)
    assert said.payload.decode().rstrip(";") == payload.rstrip(";")


def test_numbers_keep_their_digits() -> None:
    payloads = Payloads()
    assert payloads.read(b'{"a": 21.50, "b": 12345678901234567890, "c": true, "d": "x y"}').payload == (
        b"a=21.50;b=12345678901234567890;c=true;d=x y"
    )
    data = payloads.write(value(b"a=21.50;b=12345678901234567890;c=true;d=01;e="))
    assert data.startswith(b'{"a":21.50,"b":"12345678901234567890","c":true,"d":"01","e":"",')


def test_fields_of_a_message() -> None:
    payloads = Payloads({"timestamp": "_at"}, value_name="v")
    said = payloads.read(b'{"provider": "p", "valid_ms": 500, "timestamp": "noon", "_at": 1700000000000}')
    assert said == Said(b"timestamp=noon", "p", NOW, 500)
    assert payloads.read(b"21.5") == Said(b"v=21.5")
    assert payloads.read(b'"on"') == Said(b"v=on")
    assert payloads.read(b'{"text": "a;b"}') == Said(b"a;b")
    assert payloads.read(b"21.5 \xc2\xb0C", is_text=True) == Said(b"21.5 \xc2\xb0C")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff", "not UTF-8"),
        (b"{", "is not JSON"),
        (b"[" * 100_000, "more than 60,000"),
        (b"[" * 50_000, "nested too deeply"),
        (b"{}", "has no values"),
        (b'{"a": null}', "'a' must be a number, a text, true or false, not null"),
        (b'{"a": {"b": 1}}', "'a' must be a number"),
        (b"[1]", "'value' must be a number"),
        (b'{"a": NaN}', "has NaN"),
        (b'{"a": 1, "a": 2}', "says a name twice"),
        (b'{"a": "x;y"}', "must not contain"),
        (b'{"a": "\\ud800"}', "half a surrogate pair"),
        (b'{"a": 1, "text": "b"}', "has no other values"),
        (b'{"a": 1, "provider": 7}', "provider must be a text"),
        (b'{"a": 1, "valid_ms": -1}', "valid_ms must be a whole number"),
        (b'{"a": 1, "valid_ms": 0}', "valid_ms must be more than 0"),
        (b'{"a": 1, "timestamp": 1700000000}', "timestamp must be Unix milliseconds"),
        (b'{"a": 1, "valid_end": "soon"}', "valid_end must be a whole number"),
    ],
)
def test_what_cannot_be_carried_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(Unfit, match=said):
        Payloads().read(data)


def test_pairs_with_the_name_of_a_field_are_refused() -> None:
    with pytest.raises(Unfit, match="'provider', which is a field"):
        Payloads().write(value(b"provider=x;a=1"))
    assert b'"provider":"x"' in Payloads({"provider": "_by"}).write(value(b"provider=x"))
    with pytest.raises(InvalidSetting, match="two fields have the same name"):
        Payloads({"provider": "timestamp"})
    with pytest.raises(InvalidSetting, match="name of a field"):
        Payloads(value_name="text")
