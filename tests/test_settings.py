from dataclasses import dataclass

import pytest

from overlay.core.errors import InvalidSetting
from overlay.core.settings import build, check, describe, setting
from overlay.core.untrusted_yaml import read_yaml


@dataclass(frozen=True)
class Kettle:
    power_w: int = setting(2000, unit="W", low=1, high=3000, help="More boils sooner and costs more.")
    litres: float = setting(1.5, unit="l", low=0, help="How much it holds.")
    whistles: bool = setting(False, help="Whether it makes itself heard.")
    cups: int = setting(0, low=0, zero="as many as it fills", help="How many are filled.")
    colour: str = setting("red", choices=("red", "blue"), help="What it looks like.")

    def __post_init__(self):
        check(self)


def test_a_class_describes_itself_in_its_own_order():
    power, litres, whistles, _cups, colour = describe(Kettle)
    assert (power.name, power.kind, power.default, power.unit, power.low, power.high) == (
        "power_w", "integer", 2000, "W", 1, 3000,
    )  # fmt: skip
    assert [litres.kind, whistles.kind, colour.kind] == ["number", "boolean", "text"]
    assert colour.choices == ("red", "blue")
    assert power.help == "More boils sooner and costs more."


def test_what_is_right_is_built():
    assert build(Kettle, {"power_w": 1000, "litres": 2}) == Kettle(power_w=1000, litres=2)
    assert build(Kettle, {}) == Kettle()


def test_a_zero_with_a_meaning_of_its_own_may_be_written_as_its_word():
    assert build(Kettle, {"cups": "as many as it fills"}) == build(Kettle, {"cups": 0})
    with pytest.raises(InvalidSetting, match="must be a whole number"):
        build(Kettle, {"cups": "some"})


def test_off_and_on_may_be_written_in_yaml_without_quotes():
    @dataclass(frozen=True)
    class Lamp:
        light: str = setting("off", choices=("off", "on", "blinking"), help="What it does.")
        dim_s: int = setting(9, zero="off", help="When it dims.")
        loud: bool = setting(False, help="Whether it hums.")

        def __post_init__(self):
            check(self)

    assert build(Lamp, read_yaml("{light: on, dim_s: off, loud: on}")) == Lamp("on", 0, True)
    assert build(Lamp, read_yaml("{light: off, dim_s: 'off'}")) == Lamp("off", 0)
    with pytest.raises(InvalidSetting, match="dim_s: must be a whole number, not true"):
        build(Lamp, {"dim_s": True})


@pytest.mark.parametrize(
    ("values", "field", "sentence"),
    [
        ({"power_w": 3001}, "power_w", "must be at most 3000 W, not 3001"),
        ({"power_w": 0}, "power_w", "must be at least 1 W, not 0"),
        ({"power_w": "10"}, "power_w", "must be a whole number, not '10'"),
        ({"power_w": True}, "power_w", "must be a whole number, not true"),
        ({"power_w": 1.5}, "power_w", "must be a whole number, not 1.5"),
        ({"litres": float("nan")}, "litres", "must be a number, not NaN"),
        ({"litres": None}, "litres", "must be a number, not null"),
        ({"whistles": 1}, "whistles", "must be true or false, not 1"),
        ({"colour": "green"}, "colour", "must be one of red, blue, not 'green'"),
        ({"colour": 3}, "colour", "must be text, not 3"),
        ({"volts": 3}, "volts", "is not a setting; known are colour, cups, litres, power_w, whistles"),
        ([], "settings", "must be an object of names and values"),
    ],
)
def test_what_is_wrong_is_refused_by_name(values, field, sentence):
    with pytest.raises(InvalidSetting) as refused:
        build(Kettle, values)
    assert (refused.value.field, refused.value.sentence) == (field, sentence)
