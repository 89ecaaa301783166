"""Parses values: ``2ms``, ``1.5 s``, ``64kB``, ``20%``, ``yes``. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from math import isfinite

from telemetry.filters.errors import InvalidValue, did_you_mean

NONE, ANY = "none", "any"
"""``note = none`` selects runs without a note, ``tag = any`` runs with a tag."""

_TIMES = {"us": 1, "µs": 1, "μs": 1, "ms": 10**3, "s": 10**6, "sec": 10**6, "m": 60 * 10**6, "min": 60 * 10**6}
_TIMES |= {"h": 3_600 * 10**6, "d": 86_400 * 10**6, "day": 86_400 * 10**6, "days": 86_400 * 10**6}
_TIMES |= {"w": 604_800 * 10**6}
_BYTES = {"": 1, "b": 1, "byte": 1, "bytes": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_BYTES |= {"kib": 2**10, "mib": 2**20, "gib": 2**30}
_SHARES = {"": Fraction(1), "%": Fraction(1, 100)}


def _in(unit: int, scale: Mapping[str, int]) -> dict[str, Fraction]:
    return {name: Fraction(factor, unit) for name, factor in scale.items()}


_SCALES: dict[str, dict[str, Fraction]] = {
    "us": _in(1, _TIMES),
    "ms": _in(10**3, {"": 10**3, **_TIMES}),
    "s": _in(10**6, {"": 10**6, **_TIMES}),
    "bytes": _in(1, _BYTES),
    "MB": _in(10**6, {**_BYTES, "": 10**6}),
    "share": _SHARES,
    "fraction": _SHARES,
    "per_s": {"": Fraction(1), "/s": Fraction(1)},
    "cores": {"": Fraction(1), "core": Fraction(1), "cores": Fraction(1)},
    "J": _in(10**6, {"": 10**6, "uj": 1, "µj": 1, "μj": 1, "mj": 10**3, "j": 10**6, "kj": 10**9}),
}
"""By unit of a field: the accepted units of input; the empty one is for a bare number. Times in µs
require a unit, because pages show them in µs, ms and s. Bytes are in powers of ten, as on pages."""

EXAMPLES = {"us": "2ms", "ms": "250ms", "s": "30s", "bytes": "64kB", "share": "99%", "per_s": "100"}
EXAMPLES |= {"cores": "1.5", "J": "3J"}
"""An example value for each unit."""

_NUMBER = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*)", re.DOTALL)
MOST_CHARACTERS = 40

_FLAGS = {"yes": True, "true": True, "on": True, "1": True, "no": False, "false": False, "off": False, "0": False}


def quantity(text: str, unit: str) -> float:
    """The number in ``text``, converted to ``unit``. Raises ``InvalidValue``.

    A time in ``us`` requires a unit; for others a bare number is in ``unit``.
    """
    match = _NUMBER.fullmatch(text.strip()) if len(text) <= MOST_CHARACTERS else None
    if match is None or not isfinite(float(match.group(1))):
        raise InvalidValue(f"“{text:.40}” is not {_a_value(unit)}")
    number, written = match.group(1), match.group(2).strip().lower()
    if float(number) == 0 and not written:
        return 0.0
    scale = _SCALES.get(unit) or dict.fromkeys(("", unit.lower(), unit.lower().removesuffix("s")), Fraction(1))
    if not written and "" not in scale:
        raise InvalidValue(f"“{number}” needs a unit: {number}ms, or {number}us")
    if written not in scale:
        raise InvalidValue(f"“{match.group(2):.20}” is not a unit of it; write it as {EXAMPLES.get(unit, '100')}")
    return _product(number, scale[written], text)


def _product(number: str, factor: Fraction, text: str) -> float:
    """Exact arithmetic, so that 99% is 0.99 and 0.1ms is 100 µs."""
    if float(number) == 0:  # a tiny number would be a fraction with very many digits
        return 0.0
    try:
        return float(Fraction(number) * factor)
    except OverflowError:
        raise InvalidValue(f"“{text:.40}” is too large") from None


def _a_value(unit: str) -> str:
    if unit in ("us", "ms", "s"):
        return f"a time, which is written as {EXAMPLES[unit]}"
    return f"a number, which is written as {EXAMPLES.get(unit, '100')}"


def flag(text: str) -> bool:
    """``yes`` or ``no``. Raises ``InvalidValue``."""
    found = _FLAGS.get(text.strip().lower())
    if found is None:
        raise InvalidValue(f"“{text:.40}” is neither yes nor no")
    return found


def choice(text: str, choices: tuple[str, ...]) -> str:
    """One of ``choices``, ignoring case. Raises ``InvalidValue``."""
    by_lower = {one.lower(): one for one in choices}
    found = by_lower.get(text.strip().lower())
    if found is None:
        near = did_you_mean(text, choices) or f"; it is one of {', '.join(choices)}"
        raise InvalidValue(f"there is no “{text:.40}” among its values{near}")
    return found


def written(value: float | None, unit: str) -> str:
    """``value`` in a filter, to four digits: ``1.8ms``, ``64kB``, ``99.5%``."""
    if value is None:
        return "not measured"
    if unit == "share":
        return f"{value * 100:.4g}%"
    for factor, name in _STEPS.get(unit, ()):
        if abs(value) >= factor:
            return f"{value / factor:.4g}{name}"
    return f"{value:.15g}" if value == int(value) else f"{value:.4g}"


_STEPS = {
    "us": ((1e6, "s"), (1e3, "ms"), (1, "us")),
    "ms": ((1e3, "s"), (1, "ms")),
    "s": ((1, "s"), (1e-3, "ms"), (1e-6, "us")),
    "J": ((1e3, "kJ"), (1, "J"), (1e-3, "mJ"), (1e-6, "uJ")),
    "bytes": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")),
}
