"""What the filters of a list or stream select. Pure.

``q`` is the language of ``telemetry.filters`` over the fields of payloads. Their values are texts: two numbers are
compared as numbers, all else as texts in any case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from functools import lru_cache
from math import asin, cos, inf, isfinite, radians, sin, sqrt

from overlay.core.errors import InvalidSetting, shown
from overlay.systems.context_broker.clients.feed_reader import Record
from overlay.systems.context_broker.clients.payload import parse_pairs
from telemetry.filters import Among, And, Comparison, Everything, InvalidFilter, Node, Not, Or, Words, parse
from telemetry.filters.values import ANY, NONE

FILTERS = frozenset({"type", "id_pattern", "scope", "provider", "attribute", "max_age_s", "q", "near", "within_km"})
LONGEST_PATTERN = 200
MOST_STARS = 8
MOST_ATTRIBUTES = 20
LONGEST_KM = 20_100.0
"""Half the circumference of the Earth."""
EARTH_KM = 6_371.0
POSITIONS = (("lat", "lon"), ("latitude", "longitude"), ("lat", "lng"))
"""Fields of a payload that are its position, in degrees; the first pair that it has."""

Fields = Mapping[str, str]
Test = Callable[[str, Fields], bool]
"""Of a payload's text and its pairs."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Equal for equal parameters."""

    parameters: tuple[tuple[str, str], ...]
    type: str = field(default="", compare=False)
    scope: str = field(default="", compare=False)
    provider: str = field(default="", compare=False)
    max_age_ms: float = field(default=inf, compare=False)
    pattern: re.Pattern[str] | None = field(default=None, compare=False)
    tests: tuple[Test, ...] = field(default=(), compare=False)

    def matches(self, record: Record, wall_ms: int) -> bool:
        """Whether an entry that is held is one of these."""
        type, entity, scope = record.key
        if (self.type and type != self.type) or (self.scope and scope != self.scope):
            return False
        if self.provider and record.provider != self.provider:
            return False
        if self.pattern is not None and not self.pattern.fullmatch(entity):
            return False
        if wall_ms - record.timestamp > self.max_age_ms:
            return False
        if not self.tests:
            return True
        text = record.payload.decode(errors="replace")
        fields = parse_pairs(text) or {}
        return all(test(text, fields) for test in self.tests)


@lru_cache(maxsize=512)
def selection_of(parameters: tuple[tuple[str, str], ...]) -> Selection:
    """From sorted pairs of parameters. Raises ``InvalidSetting`` with the parameter's name."""
    given = dict(parameters)
    tests = [*_attributes(given.get("attribute", "")), *_language(given.get("q", "")), *_near(given)]
    return Selection(
        parameters,
        given.get("type", ""),
        given.get("scope", ""),
        given.get("provider", ""),
        _number("max_age_s", given["max_age_s"], inf) * 1000 if given.get("max_age_s") else inf,
        _pattern(given.get("id_pattern", "")),
        tuple(tests),
    )


def _pattern(text: str) -> re.Pattern[str] | None:
    """Of the complete id: ``*`` any characters, ``?`` one, ``[a-c]`` one of these. ``.*``, ``^`` and ``$`` as regular
    expressions have them are understood."""
    if not text:
        return None
    glob = text.removeprefix("^").removesuffix("$").replace(".*", "*")
    glob = re.sub(r"\*+", "*", glob)
    if len(text) > LONGEST_PATTERN or glob.count("*") > MOST_STARS:
        raise InvalidSetting("id_pattern", f"has at most {LONGEST_PATTERN} characters and {MOST_STARS} asterisks")
    try:
        return re.compile(translate(glob))
    except re.error:
        raise InvalidSetting("id_pattern", f"must be a pattern with *, ? and [a-c], not {shown(text, 40)}") from None


def _attributes(text: str) -> list[Test]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if len(names) > MOST_ATTRIBUTES:
        raise InvalidSetting("attribute", f"names at most {MOST_ATTRIBUTES} fields of the payload")
    return [lambda _, fields, name=name: name in fields for name in names]  # type: ignore[misc]


def _number(name: str, text: str, most: float, least: float = 0.0) -> float:
    try:
        value = float(text)
    except ValueError:
        value = inf
    if not isfinite(value) or not least <= value <= most:
        end = f"{least:g} or more" if most == inf else f"from {least:g} to {most:g}"
        raise InvalidSetting(name, f"must be a number, {end}, not {shown(text, 40)}")
    return value


# ---- q


def _language(text: str) -> list[Test]:
    if not text.strip():
        return []
    try:
        return [_test(parse(text))]
    except InvalidFilter as error:
        raise InvalidSetting("q", f"{error.sentence} (character {error.position + 1})") from None


def _test(tree: Node) -> Test:
    match tree:
        case Everything():
            return lambda _, fields: True
        case Words(text):
            wanted = text.casefold()
            return lambda said, fields: wanted in said.casefold()
        case Not(part):
            inner = _test(part)
            return lambda said, fields: not inner(said, fields)
        case And(parts):
            every = [_test(part) for part in parts]
            return lambda said, fields: all(test(said, fields) for test in every)
        case Or(parts):
            some = [_test(part) for part in parts]
            return lambda said, fields: any(test(said, fields) for test in some)
        case Among():
            among = [_comparison(one) for one in tree.comparisons()]
            return lambda said, fields: any(test(said, fields) for test in among)
        case Comparison():
            return _comparison(tree)


def _comparison(asked: Comparison) -> Test:
    name, wanted = asked.field, asked.value
    if wanted.lower() in (NONE, ANY) and asked.op in ("=", "!="):
        is_missing = (wanted.lower() == NONE) == (asked.op == "=")
        return lambda _, fields: (name not in fields) == is_missing
    compare, number = _OPERATORS[asked.op], _as_number(wanted)

    def test(_: str, fields: Fields) -> bool:
        value = fields.get(name)
        if value is None:
            return False
        own = _as_number(value) if number is not None and asked.op != "~" else None
        if own is not None:
            return compare(own, number)
        return compare(value.casefold(), wanted.casefold())

    return test


_OPERATORS: Mapping[str, Callable[..., bool]] = {
    "=": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
    "~": lambda one, other: other in one,
}


def _as_number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


# ---- near


def _near(given: Mapping[str, str]) -> list[Test]:
    near, within = given.get("near", ""), given.get("within_km", "")
    if not near and not within:
        return []
    if not near or not within:
        missing = "within_km" if near else "near"
        raise InvalidSetting(missing, "near=LAT,LON and within_km=N are given together")
    parts = near.split(",")
    if len(parts) != 2:
        raise InvalidSetting("near", f"must be latitude and longitude in degrees, as 47.4,8.5, not {shown(near, 40)}")
    here = _number("near", parts[0], 90, -90), _number("near", parts[1], 180, -180)
    most_km = _number("within_km", within, LONGEST_KM)

    def test(_: str, fields: Fields) -> bool:
        there = position(fields)
        return there is not None and distance_km(here, there) <= most_km

    return [test]


def position(fields: Fields) -> tuple[float, float] | None:
    """Latitude and longitude in degrees; ``None`` without them."""
    for names in POSITIONS:
        if all(name in fields for name in names):
            latitude, longitude = (_as_number(fields[name]) for name in names)
            if latitude is not None and longitude is not None and abs(latitude) <= 90 and abs(longitude) <= 180:
                return latitude, longitude
    return None


def distance_km(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Along a great circle, by the haversine formula."""
    (lat, lon), (lat2, lon2) = (tuple(map(radians, place)) for place in (one, other))
    half = sin((lat2 - lat) / 2) ** 2 + cos(lat) * cos(lat2) * sin((lon2 - lon) / 2) ** 2
    return 2 * EARTH_KM * asin(min(1.0, sqrt(half)))
