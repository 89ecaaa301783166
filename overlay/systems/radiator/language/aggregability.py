"""Aggregability: ``G(C_S, C_R) -> threshold``, how much a message is aggregated before it is sent to a recipient."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from overlay.core.binary import canonical
from overlay.systems.radiator.context import Attributes
from overlay.systems.radiator.language.compiler import AGGREGABILITY, compile_threshold
from overlay.systems.radiator.language.installed import PREFIX, InstalledFunction, installed_function
from overlay.systems.radiator.language.source import Source
from overlay.systems.radiator.language.thresholds import Threshold

FIELD = "aggregability"
Evaluate = Callable[[Attributes, tuple[str, ...], Attributes, str], Threshold]
"""``(attributes of s, people of s, attributes of r, id of r)``. Pure, and never raises."""


class Aggregability:
    """A compiled aggregability function.

    ``reads`` are the attributes of the recipient that it may read, or ``None`` for all of them.
    """

    def __init__(
        self,
        text: str,
        make: Callable[[Callable[[], Threshold]], Evaluate],
        on_error: Threshold,
        reads: frozenset[str] | None,
        *,
        reads_id: bool,
    ) -> None:
        self.text = text
        self.on_error = on_error
        self.reads = reads
        self.reads_id = reads_id
        self.errors = 0
        """Evaluations that failed."""
        self.evaluate: Evaluate = make(self._fail)

    def _fail(self) -> Threshold:
        self.errors += 1
        return self.on_error

    def class_key(self, attributes: Attributes, recipient_id: str) -> bytes:
        """Equal for recipients that the function cannot tell apart: canonical JSON of what it reads of them."""
        if not self.reads and self.reads is not None and not self.reads_id:
            return b""
        names = attributes if self.reads is None else self.reads
        values = {name: attributes[name] for name in names if name in attributes}
        return canonical([values, recipient_id] if self.reads_id else [values])


def aggregability(text: str, on_error: str = "{volume: 1}", *, is_checked: bool = False) -> Aggregability:
    """Compile ``text``, an expression or ``python:NAME``. Raises ``InvalidExpression``.

    If ``is_checked``, an installed function is evaluated twice, and results that differ raise ``AssertionError``.
    """
    if text.strip().startswith(PREFIX):
        function = installed_function(text.strip(), FIELD)
        make = partial(InstalledFunction, function, is_checked=is_checked)
        declared = getattr(function, "reads", None)
        reads = None if declared is None else frozenset(map(str, declared))
        return Aggregability(text, make, constant_threshold(on_error), reads, reads_id=reads is None)
    code = compile_threshold(Source(FIELD, text), AGGREGABILITY)
    names = {name for root, name in code.reads if root == "r"}
    return Aggregability(
        text, code.function, constant_threshold(on_error), frozenset(names - {""}), reads_id="" in names
    )


def constant_threshold(text: str, field: str = "on_error") -> Threshold:
    """The threshold of a text such as ``{volume: 1}``. Raises ``InvalidExpression``."""
    source = Source(field, text)
    code = compile_threshold(source, AGGREGABILITY)
    if not isinstance(code.tree, ast.Name):
        raise source.error(0, "a constant threshold is expected here, such as {volume: 1}")
    threshold: Threshold = code.constants[code.tree.id]
    return threshold
