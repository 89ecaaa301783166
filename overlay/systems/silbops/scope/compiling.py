"""Functions as Python closures, made once when a function is admitted. The same results as ``evaluation``, faster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.scope.evaluation import COMPARE, COMPUTE, Operand, compared, computed, operand
from overlay.systems.silbops.scope.intervals import Placed, inside, intervals_of, placed
from overlay.systems.silbops.scope.tree import PUBLISHER, SUBSCRIBER, TRUTHS, Node, Tree, variables

Test = Callable[[Values, Values], bool]
"""Of the publisher's and the subscriber's context. False if a variable is missing. Raises ``ScopeError``."""
_Evaluate = Callable[[Values, Values], Any]

_REMEMBERED = 4096
"""Subscribers of one application have the same function."""


@lru_cache(_REMEMBERED)
def compiled(tree: Tree) -> Function:
    return Function(tree)


class Function:
    """A function that is tested for one publisher and many subscribers."""

    __slots__ = ("_test", "intervals")

    def __init__(self, tree: Tree) -> None:
        self._test = closures(tree)
        self.intervals = intervals_of(tree)
        """None if it has another form."""

    def __call__(self, pub: Values, this: Values) -> bool:
        """As a ``Test``."""
        return self.of_subscribers(pub, self.placed(pub))(this)

    def placed(self, pub: Values) -> Sequence[Placed] | None:
        """Its intervals for this publisher; None if it has another form, or ``pub`` other values."""
        return None if self.intervals is None else placed(self.intervals, pub)

    def of_subscribers(self, pub: Values, intervals: Sequence[Placed] | None) -> Callable[[Values], bool]:
        """The test of a subscriber's context. ``intervals``: ``placed(pub)``."""
        test = self._test
        if intervals is None:
            return lambda this: test(pub, this)

        def holds(this: Values) -> bool:
            found = inside(intervals, this)
            return test(pub, this) if found is None else found

        return holds


def closures(tree: Tree) -> Test:
    """A test that does without the interval form."""
    test, wanted, own = _test(tree), variables(tree, PUBLISHER), variables(tree, SUBSCRIBER)

    def holds(pub: Values, this: Values) -> bool:
        for name in wanted:
            if name not in pub:
                return False
        for name in own:
            if name not in this:
                return False
        return bool(test(pub, this))

    return holds


def _test(tree: Tree) -> _Evaluate:
    head, *operands = tree
    if head == "exists":
        return _exists(*operands[0])
    if head in COMPARE:
        left, right = map(_value, operands)
        return _comparison(head, left, right)
    tests = [_test(one) for one in operands]
    if head == "not":
        (inner,) = tests
        return lambda pub, this: not inner(pub, this)
    return _all(tests) if head == "and" else _any(tests)


def _all(tests: Sequence[_Evaluate]) -> _Evaluate:
    def hold(pub: Values, this: Values) -> bool:
        for test in tests:  # noqa: SIM110 (a hot path)
            if not test(pub, this):
                return False
        return True

    return hold


def _any(tests: Sequence[_Evaluate]) -> _Evaluate:
    def hold(pub: Values, this: Values) -> bool:
        for test in tests:  # noqa: SIM110 (a hot path)
            if test(pub, this):
                return True
        return False

    return hold


def _comparison(op: str, left: _Evaluate, right: _Evaluate) -> _Evaluate:
    compare = COMPARE[op]

    def hold(pub: Values, this: Values) -> bool:
        one, other = left(pub, this), right(pub, this)
        if type(one) is float and type(other) is float:
            return compare(one, other)
        return compared(op, one, other)

    return hold


def _exists(side: str, name: str) -> _Evaluate:
    if side == PUBLISHER:
        return lambda pub, this: name in pub
    return lambda pub, this: name in this


def _value(node: Node) -> _Evaluate:
    if not isinstance(node, tuple):
        return _constant(operand(node))
    head, *operands = node
    if head in TRUTHS:
        return _constant(TRUTHS[head])
    if head == PUBLISHER:
        return _variable(lambda pub, this: pub, operands[0])
    if head == SUBSCRIBER:
        return _variable(lambda pub, this: this, operands[0])
    values = [_value(one) for one in operands]
    if len(values) == 2 and head in ("+", "-", "*"):
        return _arithmetic(head, *values)
    return lambda pub, this: computed(head, [value(pub, this) for value in values])


def _constant(fixed: Operand) -> _Evaluate:
    return lambda pub, this: fixed


def _variable(side: Callable[[Values, Values], Values], name: str) -> _Evaluate:
    def value(pub: Values, this: Values) -> Operand:
        found = side(pub, this)[name]
        return found if type(found) is float else operand(found)

    return value


def _arithmetic(op: str, left: _Evaluate, right: _Evaluate) -> _Evaluate:
    compute = COMPUTE[op]

    def value(pub: Values, this: Values) -> float:
        one, other = left(pub, this), right(pub, this)
        if type(one) is float and type(other) is float:
            result: float = compute(one, other)
            if result - result == 0.0:  # finite
                return result
        return computed(op, [one, other])

    return value
