"""Declarative settings: a frozen dataclass whose fields say their unit, range and trade-off once.

Flags, forms, the API's schema and the documentation are all made from ``describe``; every value, wherever it came from,
passes the same ``check``. A settings class looks so::

    @dataclass(frozen=True)
    class LinkShape:
        delay_ms: float = setting(0.0, unit="ms", low=0, high=60_000, help="One-way delay added to each datagram.")

        def __post_init__(self) -> None:
            check(self)

A field's type is its default's: ``int``, ``float`` (which takes an integer too), ``bool`` or ``str``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from math import isfinite
from typing import Any, TypeVar, cast

from overlay.core.errors import InvalidSetting

T = TypeVar("T")
Value = int | float | bool | str

_KINDS = {bool: "boolean", int: "integer", float: "number", str: "text"}
_SENTENCES = {
    "boolean": "must be true or false",
    "integer": "must be a whole number",
    "number": "must be a number",
    "text": "must be text",
}


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """What is known of one setting."""

    name: str
    kind: str
    """``boolean``, ``integer``, ``number`` or ``text``."""
    default: Value
    unit: str
    """Empty where the value is a plain count, name or switch."""
    help: str
    low: float | None
    high: float | None
    """Inclusive bounds; ``None`` where there is none."""
    choices: tuple[str, ...]
    """The only values a text may have; empty where any will do."""
    zero: str = ""
    """A word that may be written for 0, where 0 stands for something else than nothing; empty where it does not."""

    def read(self, value: object) -> object:
        """``value`` as it was written, as the number it means; unchecked."""
        return 0 if self.zero and value == self.zero else value

    def check(self, value: object) -> None:
        """Raise ``InvalidSetting`` unless ``value`` has this setting's type and lies in its range."""
        if not self._fits(value):
            raise InvalidSetting(self.name, f"{_SENTENCES[self.kind]}, not {value!r:.60}")
        if self.choices and value not in self.choices:
            raise InvalidSetting(self.name, f"must be one of {', '.join(self.choices)}, not {value!r:.60}")
        if self.low is not None and value < self.low:  # type: ignore[operator]
            raise InvalidSetting(self.name, f"must be at least {self._with_unit(self.low)}, not {value}")
        if self.high is not None and value > self.high:  # type: ignore[operator]
            raise InvalidSetting(self.name, f"must be at most {self._with_unit(self.high)}, not {value}")

    def _fits(self, value: object) -> bool:
        if self.kind == "boolean":
            return isinstance(value, bool)
        if self.kind == "text":
            return isinstance(value, str)
        if isinstance(value, bool):  # a bool is an int to Python, never to a person
            return False
        if self.kind == "integer":
            return isinstance(value, int)
        return isinstance(value, int) or (isinstance(value, float) and isfinite(value))

    def _with_unit(self, bound: float) -> str:
        return f"{bound:g} {self.unit}" if self.unit and abs(bound) < 1e6 else f"{bound} {self.unit}".strip()


def setting(
    default: Value,
    *,
    help: str,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    zero: str = "",
) -> Any:
    """A dataclass field with everything that a flag, a form or a page needs to know of it."""
    known = {"unit": unit, "help": help, "low": low, "high": high, "choices": tuple(choices), "zero": zero}
    return field(default=default, metadata=known)


def describe(cls: type) -> list[SettingInfo]:
    """The settings of a class, in the order in which it states them. Fields not made by ``setting`` are left out."""
    return list(_described(cls))


@cache  # a topology checks thousands of links, each of which is a settings instance
def _described(cls: type) -> tuple[SettingInfo, ...]:
    return tuple(
        SettingInfo(name=f.name, kind=_KINDS[type(f.default)], default=cast(Value, f.default), **f.metadata)
        for f in fields(cls)
        if "help" in f.metadata
    )


def check(instance: Any) -> None:
    """Check every field of a settings instance; to be called by its ``__post_init__``. Raises ``InvalidSetting``."""
    for info in describe(type(instance)):
        info.check(getattr(instance, info.name))


def help_lines(text: str) -> list[str]:
    """A help that says what each of several names is, ``One sentence. one: …; other: ….``, cut before each name."""
    return re.split(r"(?<=[.;]) (?=[\w-]+: )", text)


def build(cls: type[T], values: Mapping[str, Any]) -> T:
    """``cls(**values)`` for a mapping from outside: unknown names are refused by name. Raises ``InvalidSetting``."""
    if not isinstance(values, Mapping):
        raise InvalidSetting("settings", "must be an object of names and values")
    known = {info.name: info for info in describe(cls)}
    for name in values:
        if name not in known:
            raise InvalidSetting(str(name)[:60], f"is not a setting; known are {', '.join(sorted(known))}")
    return cls(**{name: known[name].read(value) for name, value in values.items()})


ENGINE = "engine"
"""Among the values what carries the runs out, which is no setting."""


@dataclass(frozen=True, slots=True)
class Use:
    """A setting is used where another one, or the engine, has certain values."""

    by: str
    values: tuple[str, ...] = ()
    """With which it is used; empty where a number, or a switch, says so."""
    more_than: int = 0
    """Of a number: beyond which it is used."""
    at_default: bool = False
    """Whether that is so only of its default: another value is used in any case."""

    def fits(self, value: Any) -> bool:
        if self.values:
            return value in self.values
        return value > self.more_than if isinstance(value, int | float) else bool(value)

    @property
    def words(self) -> str:
        """ "with search flood or expanding-ring", "with more than 1 of entities"."""
        name = self.by.replace("_", " ")
        if self.values:
            return f"with {name} {' or '.join(self.values)}"
        return f"with more than {self.more_than} of {name}" if self.more_than else f"with {name}"
