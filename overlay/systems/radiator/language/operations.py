"""What the language's operators and functions compute. A failure raises one of ``FAILURES``.

Numbers are ``int`` and ``float``; ``True`` is no number. Every result is finite, and an integer is within ±2^63.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import asin, cos, floor, inf, pi, sin, sqrt
from typing import Any

_DIAMETER_KM = 2 * 6371.0
_DEGREE = pi / 180
_HALF = pi / 360
LIMIT = 1 << 63
_NUMBERS = frozenset({int, float})


class Failure(Exception):
    """An operand of a wrong type, or a result out of range."""


FAILURES = (Failure, ArithmeticError, LookupError, TypeError, ValueError)
"""``LookupError``: a missing attribute. ``ArithmeticError``: a division by zero, an overflow."""

Number = int | float


def checked(result: Any) -> Number:
    """``result`` if it is a number in range."""
    if type(result) is int:
        if -LIMIT <= result <= LIMIT:
            return result
    elif type(result) is float and -inf < result < inf:
        return result
    raise Failure


def _need(a: Any, b: Any) -> None:
    if type(a) not in _NUMBERS or type(b) not in _NUMBERS:
        raise Failure


# The bodies are written out, because a call more would take a tenth of a microsecond more.


def add(a: Any, b: Any) -> Number:
    if type(a) not in _NUMBERS or type(b) not in _NUMBERS:
        raise Failure
    result = a + b
    return result if -LIMIT <= result <= LIMIT else checked(result)


def subtract(a: Any, b: Any) -> Number:
    if type(a) not in _NUMBERS or type(b) not in _NUMBERS:
        raise Failure
    result = a - b
    return result if -LIMIT <= result <= LIMIT else checked(result)


def multiply(a: Any, b: Any) -> Number:
    if type(a) not in _NUMBERS or type(b) not in _NUMBERS:
        raise Failure
    result = a * b
    return result if -LIMIT <= result <= LIMIT else checked(result)


def divide(a: Any, b: Any) -> Number:
    if type(a) not in _NUMBERS or type(b) not in _NUMBERS:
        raise Failure
    result = a / b
    return result if -LIMIT <= result <= LIMIT else checked(result)


def divide_down(a: Any, b: Any) -> Number:
    if type(a) not in _NUMBERS or type(b) not in _NUMBERS:
        raise Failure
    result = a // b
    return result if -LIMIT <= result <= LIMIT else checked(result)


def modulo(a: Any, b: Any) -> Number:
    if type(a) not in _NUMBERS or type(b) not in _NUMBERS:
        raise Failure
    result = a % b
    return result if -LIMIT <= result <= LIMIT else checked(result)


def negative(a: Any) -> Number:
    return checked(-checked(a))


def equal(a: Any, b: Any) -> bool:
    """Numbers with numbers and strings with strings; false for all other types."""
    if type(a) is str:
        return type(b) is str and a == b
    return type(a) in _NUMBERS and type(b) in _NUMBERS and bool(a == b)


def unequal(a: Any, b: Any) -> bool:
    return not equal(a, b)


def _need_order(a: Any, b: Any) -> None:
    if not (type(a) is str and type(b) is str):
        _need(a, b)


def less(a: Any, b: Any) -> bool:
    _need_order(a, b)
    return bool(a < b)


def less_or_equal(a: Any, b: Any) -> bool:
    _need_order(a, b)
    return bool(a <= b)


def greater(a: Any, b: Any) -> bool:
    return less(b, a)


def greater_or_equal(a: Any, b: Any) -> bool:
    return less_or_equal(b, a)


def is_in(a: Any, b: Any) -> bool:
    """In a list by ``equal``, in a string as a part, in an object as a key."""
    if type(b) is str:
        return a in b  # a TypeError unless a is a string
    if type(b) is dict:
        return type(a) is str and a in b
    if type(b) is not list and type(b) is not tuple:
        raise Failure
    return a in b if type(a) is str else any(equal(a, one) for one in b)


def is_not_in(a: Any, b: Any) -> bool:
    return not is_in(a, b)


def minimum(*numbers: Any) -> Number:
    return min(map(checked, numbers))


def maximum(*numbers: Any) -> Number:
    return max(map(checked, numbers))


def absolute(a: Any) -> Number:
    return checked(abs(checked(a)))


def integer(a: Any) -> Number:
    return checked(int(checked(a)))


def rounded(a: Any) -> Number:
    """To the nearest integer; halves to the even one."""
    return checked(round(checked(a)))


def length(a: Any) -> int:
    if type(a) not in (str, list, dict, tuple):
        raise Failure
    return len(a)


def distance_km(x: Any, y: Any) -> float:
    """Great circle between two ``{"latitude", "longitude"}`` in degrees."""
    a, b, c, d = x["latitude"], x["longitude"], y["latitude"], y["longitude"]
    if type(a) is not float or type(b) is not float or type(c) is not float or type(d) is not float:
        a, b, c, d = float(checked(a)), float(checked(b)), float(checked(c)), float(checked(d))
    half_latitude, half_longitude = sin((c - a) * _HALF), sin((d - b) * _HALF)
    h = half_latitude * half_latitude + cos(a * _DEGREE) * cos(c * _DEGREE) * half_longitude * half_longitude
    return _DIAMETER_KM * asin(sqrt(h if h < 1.0 else 1.0))


def distance(x: Any, y: Any) -> int:
    """``distance_km``, rounded down."""
    return floor(distance_km(x, y))


def cell(x: Any) -> list[float]:
    """Latitude and longitude, rounded to 0.01."""
    latitude, longitude = x["latitude"], x["longitude"]
    _need(latitude, longitude)
    return [round(checked(float(latitude)), 2) + 0.0, round(checked(float(longitude)), 2) + 0.0]  # no -0.0


def _list(a: Any) -> list[Any]:
    if type(a) is not list:
        raise Failure
    return a


def friend(people: tuple[str, ...], r: Mapping[str, Any]) -> bool:
    """Whether one of ``people`` is in ``r.friends``."""
    friends = _list(r["friends"])
    return people[0] in friends if len(people) == 1 else not _names(friends).isdisjoint(people)


def friend_of_friend(s: Mapping[str, Any], r: Mapping[str, Any]) -> bool:
    """Whether ``s.friends`` and ``r.friends`` have a name in common."""
    return not _names(_list(s["friends"])).isdisjoint(_names(_list(r["friends"])))


def _names(values: list[Any]) -> set[str]:
    return {value for value in values if type(value) is str}


OPERATIONS: Mapping[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        *(add, subtract, multiply, divide, divide_down, modulo, negative, checked),
        *(equal, unequal, less, less_or_equal, greater, greater_or_equal, is_in, is_not_in),
        *(minimum, maximum, absolute, integer, rounded, length),
        *(distance_km, distance, cell, friend, friend_of_friend),
    )
}
"""By the name in generated code."""
