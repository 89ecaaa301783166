"""Compiles an expression once into functions of a notification, closed over names and constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Protocol

from overlay.systems.federation.language.tree import And, Expression, Not, Or, Predicate
from overlay.systems.federation.language.values import Accepts, accepts


class Notified(Protocol):
    """What an expression sees of a notification."""

    @property
    def scope(self) -> str: ...
    @property
    def entity_type(self) -> str: ...
    @property
    def entity_id(self) -> str: ...
    @property
    def timestamp(self) -> int: ...
    @property
    def data(self) -> Mapping[str, Any]: ...


Test = Callable[[Notified], bool]

_ATTRIBUTES = {
    "scope": attrgetter("scope"),
    "entity.type": attrgetter("entity_type"),
    "entity.id": attrgetter("entity_id"),
    "timestamp": attrgetter("timestamp"),
}


def compiled(expression: Expression) -> Test:
    """Whether a notification satisfies ``expression``."""
    match expression:
        case Predicate():
            return _predicate(expression)
        case Not(part):
            return _negated(compiled(part))
        case And(parts):
            return _all([compiled(part) for part in parts])
        case Or(parts):
            return _any([compiled(part) for part in parts])


def _predicate(predicate: Predicate) -> Test:
    does_exist = predicate.operator == "exists"
    if predicate.name in _ATTRIBUTES:
        return _always if does_exist else _attribute(_ATTRIBUTES[predicate.name], accepts(predicate))
    path = predicate.path
    if len(path) > 1:
        return _inner(path, _always_accepts if does_exist else accepts(predicate))
    return _present(path[0]) if does_exist else _parameter(path[0], accepts(predicate))


def _always(notification: Notified) -> bool:
    return True


def _always_accepts(value: Any) -> bool:
    return True


def _attribute(get: Callable[[Notified], Any], accept: Accepts) -> Test:
    return lambda notification: accept(get(notification))


def _present(name: str) -> Test:
    return lambda notification: name in notification.data


def _parameter(name: str, accept: Accepts) -> Test:
    # No value is None, which no predicate accepts.
    return lambda notification: accept(notification.data.get(name))


def _inner(path: Sequence[str], accept: Accepts) -> Test:
    return lambda notification: _reaches(notification.data, path, accept)


def _reaches(value: Any, path: Sequence[str], accept: Accepts) -> bool:
    """Whether ``path`` leads from ``value`` to one that is accepted, through any element of arrays on the way."""
    if not path:
        return accept(value)
    if isinstance(value, list):
        return any(_reaches(element, path, accept) for element in value)
    return isinstance(value, dict) and path[0] in value and _reaches(value[path[0]], path[1:], accept)


def _negated(test: Test) -> Test:
    return lambda notification: not test(notification)


def _all(tests: Sequence[Test]) -> Test:
    if not tests:
        return _always
    if len(tests) == 1:
        return tests[0]
    if len(tests) == 2:
        first, second = tests
        return lambda notification: first(notification) and second(notification)
    return lambda notification: all(test(notification) for test in tests)


def _any(tests: Sequence[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]
    return lambda notification: any(test(notification) for test in tests)
