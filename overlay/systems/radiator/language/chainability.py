"""Chainability: how well client ``b`` follows client ``a`` in a chain. Not positive or failing: not at all."""

from __future__ import annotations

from collections.abc import Callable

from overlay.systems.radiator.context import Attributes
from overlay.systems.radiator.language.compiler import CHAINABILITY, compile_value
from overlay.systems.radiator.language.operations import FAILURES, Number, checked
from overlay.systems.radiator.language.source import Source

FIELD = "chainability"


class Chainability:
    """A compiled chainability function."""

    def __init__(self, text: str) -> None:
        """Raises ``InvalidExpression``."""
        self.text = text
        self.errors = 0
        """Evaluations that failed."""
        code = compile_value(Source(FIELD, text), CHAINABILITY)
        self._function: Callable[[Attributes, str, Attributes, str], object] = code.function(self._fail)

    def value(self, a: Attributes, a_id: str, b: Attributes, b_id: str) -> Number:
        """Positive, or 0 if ``b`` must not follow ``a``."""
        try:
            return max(0, checked(self._function(a, a_id, b, b_id)))
        except FAILURES:
            return self._fail()

    def _fail(self) -> int:
        self.errors += 1
        return 0
