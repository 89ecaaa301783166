"""Declarative settings: a frozen dataclass whose fields define unit, range and help text.

Flags, forms, the API's schema and the documentation are generated from ``describe``. Every value passes the same
``check``, wherever it comes from. An example of a settings class::

    @dataclass(frozen=True)
    class LinkShape:
        delay_ms: float = setting(0.0, unit="ms", low=0, high=60_000, help="One-way delay added to each datagram.")

        def __post_init__(self) -> None:
            check(self)

A field has the type of its default: ``int``, ``float`` (which also accepts an integer), ``bool`` or ``str``. A text may
be in a language of the system, such as expressions or JSON, which a function checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from math import isfinite
from typing import Any, TypeVar, cast

from overlay.core.errors import InvalidSetting, shown

T = TypeVar("T")
Value = int | float | bool | str

_KINDS = {bool: "boolean", int: "integer", float: "number", str: "text"}
_SENTENCES = {
    "boolean": "must be true or false",
    "integer": "must be a whole number",
    "number": "must be a number",
    "text": "must be text",
}


class InvalidText(ValueError):
    """A text that is not in its language, with the offset of the error."""

    def __init__(self, at: int, sentence: str) -> None:
        super().__init__(sentence)
        self.at, self.sentence = at, sentence


Language = Callable[[str], object]


def json_list(text: str) -> list[Any]:
    """The language of documents: a JSON list. It is written as a text, because a list of values is a sweep.

    Raises ``InvalidText``.
    """
    from overlay.core.untrusted import Unreadable, read_json  # needed only for such settings

    try:
        found = read_json(text)
    except Unreadable as error:
        raise InvalidText(error.at, error.sentence) from None
    if not isinstance(found, list):
        raise InvalidText(0, "must be a JSON list")
    return found


_YAML_WORDS = {False: "off", True: "on"}
"""YAML 1.1 reads these words, without quotes, as booleans."""


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """The description of one setting."""

    name: str
    kind: str
    """``boolean``, ``integer``, ``number`` or ``text``."""
    default: Value
    unit: str
    """Empty for a plain count, name or switch."""
    help: str
    low: float | None
    high: float | None
    """Inclusive bounds, or ``None``."""
    choices: tuple[str, ...]
    """The permitted values of a text; empty if any text is permitted."""
    zero: str = ""
    """A word accepted instead of 0, such as *auto*, if 0 has a special meaning; otherwise empty."""
    most: int = 0
    """Maximum number of characters of a text in a language, which a form shows in several lines; 0 for other texts."""
    language: Language | None = None
    """Parses such a text. Raises ``InvalidText``."""

    def read(self, value: object) -> object:
        """``value`` with the word for 0 replaced, and a number or YAML's off and on as the choice that they name;
        unchecked."""
        word = _YAML_WORDS[value] if isinstance(value, bool) else value
        if self.kind == "text" and type(word) in (int, str) and str(word) in self.choices:
            return str(word)
        return 0 if self.zero and word == self.zero else value

    def check(self, value: object) -> None:
        """Raise ``InvalidSetting`` unless ``value`` has this setting's type and is in its range."""
        if not self._fits(value):
            raise InvalidSetting(self.name, f"{_SENTENCES[self.kind]}, not {shown(value)}")
        if self.choices and value not in self.choices:
            raise InvalidSetting(self.name, f"must be one of {', '.join(self.choices)}, not {shown(value)}")
        if self.low is not None and value < self.low:  # type: ignore[operator]
            raise InvalidSetting(self.name, f"must be at least {self._with_unit(self.low)}, not {value}")
        if self.high is not None and value > self.high:  # type: ignore[operator]
            raise InvalidSetting(self.name, f"must be at most {self._with_unit(self.high)}, not {value}")
        if self.most and len(value) > self.most:  # type: ignore[arg-type]
            raise InvalidSetting(self.name, f"must have at most {self.most:,} characters, not {len(value):,}")  # type: ignore[arg-type]
        if self.language is not None:
            self._parse(self.language, str(value))

    def _parse(self, language: Language, text: str) -> None:
        try:
            language(text)
        except InvalidText as error:
            before = text[: error.at]
            line, column = before.count("\n") + 1, error.at - before.rfind("\n")
            raise InvalidSetting(self.name, f"line {line}, column {column}: {error.sentence}") from None

    def _fits(self, value: object) -> bool:
        if self.kind == "boolean":
            return isinstance(value, bool)
        if self.kind == "text":
            return isinstance(value, str)
        if isinstance(value, bool):  # in Python a bool is an int
            return False
        if self.kind == "integer":
            return isinstance(value, int)
        return isinstance(value, int) or (isinstance(value, float) and isfinite(value))

    def _with_unit(self, bound: float) -> str:
        unit = "" if self.unit == "fraction" else self.unit
        return f"{bound:g} {unit}".strip() if self.unit and abs(bound) < 1e6 else f"{bound} {unit}".strip()


def profile_setting(default: str, profiles: Iterable[str], summaries: Mapping[str, str]) -> SettingInfo:
    """The setting that names one of ``profiles``; ``summaries`` describes them in its help."""
    described = "; ".join(f"{name}: {summary}" for name, summary in summaries.items())
    return SettingInfo(
        name="profile",
        kind="text",
        default=default,
        unit="",
        help=f"A named set of settings. Settings given explicitly override it. {described}.",
        low=None,
        high=None,
        choices=tuple(profiles),
    )


def resolved(
    values: Mapping[str, Any], profile: SettingInfo, profiles: Mapping[str, Mapping[str, Value]]
) -> dict[str, Any]:
    """``values`` merged with those of the profile that they name, without its name. Raises ``InvalidSetting``."""
    name = values.get(profile.name, profile.default)
    profile.check(name)
    return {**profiles[name], **{other: value for other, value in values.items() if other != profile.name}}


def setting(
    default: Value,
    *,
    help: str,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    zero: str = "",
    most: int = 0,
    language: Language | None = None,
) -> Any:
    """A dataclass field with the metadata for flags, forms and pages."""
    known = {"unit": unit, "help": help, "low": low, "high": high, "choices": tuple(choices), "zero": zero}
    return field(default=default, metadata={**known, "most": most, "language": language})


def describe(cls: type) -> list[SettingInfo]:
    """The settings of a class, in the order of its fields. Fields not created by ``setting`` are omitted."""
    return list(_described(cls))


@cache  # a topology checks thousands of links, each of which is a settings instance
def _described(cls: type) -> tuple[SettingInfo, ...]:
    return tuple(
        SettingInfo(name=f.name, kind=_KINDS[type(f.default)], default=cast(Value, f.default), **f.metadata)
        for f in fields(cls)
        if "help" in f.metadata
    )


def check(instance: Any) -> None:
    """Check every field of a settings instance. Call it in ``__post_init__``. Raises ``InvalidSetting``."""
    for info in describe(type(instance)):
        info.check(getattr(instance, info.name))


def help_lines(text: str) -> list[str]:
    """Split a help text with a list of choices, ``One sentence. one: …; other: ….``, before each name."""
    return re.split(r"(?<=[.;]) (?=[\w-]+: )", text)


def build(cls: type[T], values: Mapping[str, Any]) -> T:
    """``cls(**values)`` for a mapping from outside. Raises ``InvalidSetting`` for unknown names and invalid values."""
    if not isinstance(values, Mapping):
        raise InvalidSetting("settings", "must be an object of names and values")
    known = {info.name: info for info in describe(cls)}
    for name in values:
        if name not in known:
            raise InvalidSetting(str(name)[:60], f"is not a setting; known are {', '.join(sorted(known))}")
    return cls(**{name: known[name].read(value) for name, value in values.items()})


ENGINE = "engine"
"""The name of the engine among the values. It is not a setting."""


@dataclass(frozen=True, slots=True)
class Use:
    """The condition under which a setting is used: certain values of another setting, or of the engine."""

    by: str
    values: tuple[str, ...] = ()
    """The values for which it is used; empty for numbers and switches."""
    more_than: int = 0
    """For a number: it is used above this value."""
    at_default: bool = False
    """Whether the condition applies only to its default; other values are always used."""

    def fits(self, value: Any) -> bool:
        if self.values:
            return value in self.values
        return value > self.more_than if isinstance(value, int | float) else bool(value)

    @property
    def words(self) -> str:
        """ "with shape ring or star", "with more than 1 of callers"."""
        name = self.by.replace("_", " ")
        if self.values:
            return f"with {name} {' or '.join(self.values)}"
        return f"with more than {self.more_than} of {name}" if self.more_than else f"with {name}"
