"""Aggregation: how the messages of a queue become the body of one propagation.

``join``, ``concat``, or aggregates such as ``avg(speed) by cell(location); count(people)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from overlay.core.binary import canonical
from overlay.systems.radiator.context import Attributes, Context, combine, join
from overlay.systems.radiator.language.compiler import GROUPING, compile_value
from overlay.systems.radiator.language.operations import FAILURES, Failure, Number, add, checked, divide
from overlay.systems.radiator.language.source import MAX_CHARACTERS, InvalidExpression, Source, did_you_mean

FIELD = "aggregation"
_CLAUSE = re.compile(r"\s*(?P<fn>\w+)\s*\(\s*(?P<name>\w+)\s*\)\s*(?:(?P<by>by\b)|$)")
_SEPARATED = re.compile(r"""(?:[^;"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|["'])*""")
_EXAMPLE = "join, concat, or aggregates such as avg(speed) by cell(location)"


class _Failed(Exception):
    """The expression after ``by`` failed."""


def _fail() -> None:
    raise _Failed


def _avg(numbers: list[Any]) -> Number | None:
    return divide(_sum(numbers), len(numbers)) if numbers else None


def _sum(numbers: list[Any]) -> Any:
    total = numbers[0] if numbers else None
    for number in numbers[1:]:
        total = add(total, number)
    return total


def _newest(values: list[Any]) -> Any:
    return values[-1] if values else None


_FUNCTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "avg": _avg,
    "sum": _sum,
    "count": len,
    "list": list,
    "newest": _newest,
    "min": lambda numbers: min(numbers, default=None),
    "max": lambda numbers: max(numbers, default=None),
}
_OF_NUMBERS = ("avg", "sum", "min", "max")


@dataclass(frozen=True, slots=True)
class _Aggregate:
    """``fn(name) by key``."""

    title: str
    fn: str
    name: str
    key: Callable[..., Any] | None

    def of(self, contexts: Sequence[Context], r: Attributes, r_id: str) -> tuple[Any, int]:
        """The attribute's value, and how many values were left out."""
        groups: dict[bytes, tuple[Any, list[Any]]] = {}
        left_out = 0
        for context in contexts:
            try:
                values = self._values(context)
                key = self.key and self.key(context.attributes, context.people, r, r_id)
            except (*FAILURES, _Failed):
                left_out += 1
                continue
            kept = [value for value in values if self._fits(value)]
            left_out += len(values) - len(kept)
            if kept:
                groups.setdefault(canonical(key), (key, []))[1].extend(kept)
        return self._results(groups, left_out)

    def _results(self, groups: dict[bytes, tuple[Any, list[Any]]], left_out: int) -> tuple[Any, int]:
        results: list[list[Any]] = []
        for key, values in groups.values():
            try:
                results.append([key, self._result(values)])
            except FAILURES:
                left_out += len(values)
        if self.key is not None:
            return results, left_out
        return (results[0][1] if results else self._result([])), left_out

    def _values(self, context: Context) -> list[Any]:
        """The values of a message; of several messages that a client joined, those of all of them."""
        if self.name == "people":
            return [context.people] if self.fn == "newest" else list(context.people)
        value = context.attributes[self.name]
        return value if context.n > 1 else [value]

    def _fits(self, value: Any) -> bool:
        if self.fn not in _OF_NUMBERS:
            return True
        try:
            checked(value)
        except Failure:
            return False
        return True

    def _result(self, values: list[Any]) -> Any:
        if self.name == "people" and self.fn != "newest":
            values = list(dict.fromkeys(values))
        return _FUNCTIONS[self.fn](values)


class Aggregation:
    """A compiled aggregation."""

    def __init__(self, text: str) -> None:
        """Raises ``InvalidExpression``."""
        self.text = text
        self.left_out = 0
        """Values that aggregates left out: an attribute is missing or no number, or the expression failed."""
        self._word = text.strip()
        is_word = self._word in ("join", "concat")
        found = [] if is_word else list(_aggregates(text))
        self._aggregates = [aggregate for aggregate, _ in found]
        self.is_per_recipient = any(reads_r for _, reads_r in found)
        """Whether bodies depend on the recipient, so that recipients share none."""

    def aggregate(self, contexts: Sequence[Context], r: Attributes, r_id: str) -> list[Context]:
        """The contexts that a recipient receives for ``contexts``; each is one callback."""
        if self._word == "concat":
            return list(contexts)
        if not self._aggregates:
            return [join(contexts)]
        attributes: dict[str, Any] = {}
        for aggregate in self._aggregates:
            attributes[aggregate.title], left_out = aggregate.of(contexts, r, r_id)
            self.left_out += left_out
        return [combine(contexts, attributes)]

    def body(self, contexts: Sequence[Context], r: Attributes, r_id: str) -> bytes:
        """``aggregate`` as canonical JSON; a list for ``concat``. Counterpart: ``context.parse_body``."""
        found = [context.as_json() for context in self.aggregate(contexts, r, r_id)]
        return canonical(found if self._word == "concat" else found[0])


def _aggregates(text: str) -> Iterator[tuple[_Aggregate, bool]]:
    """The aggregates of a text, and whether each reads the recipient. Raises ``InvalidExpression``."""
    if len(text) > MAX_CHARACTERS:
        Source(FIELD, text).parse()  # raises
    titles = set[str]()
    for start, end in _clauses(text):
        aggregate, reads_r = _aggregate(text, start, end)
        if aggregate.title in titles:
            raise _error(text, start, f"{aggregate.title!r:.60} is there twice")
        titles.add(aggregate.title)
        yield aggregate, reads_r


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    """Begin and end of what semicolons separate, those in strings excepted."""
    start = 0
    while start <= len(text):
        found = _SEPARATED.match(text, start)
        assert found is not None
        yield start, found.end()
        start = found.end() + 1


def _aggregate(text: str, start: int, end: int) -> tuple[_Aggregate, bool]:
    found = _CLAUSE.match(text, start, end)
    if found is None:
        lead = len(text[start:end]) - len(text[start:end].lstrip())
        raise _error(text, start + lead, f"this must be {_EXAMPLE}")
    fn, name = found["fn"], found["name"]
    if fn not in _FUNCTIONS:
        sentence = f"{fn!r:.60} is no aggregate; they are {', '.join(_FUNCTIONS)}{did_you_mean(fn, _FUNCTIONS)}"
        raise _error(text, found.start("fn"), sentence)
    if not name.isidentifier():
        raise _error(text, found.start("name"), f"{name!r:.60} is no name of an attribute")
    if name == "people" and fn in _OF_NUMBERS:
        raise _error(text, found.start("name"), f"{fn} takes numbers; people are names")
    if found["by"] is None:
        return _Aggregate(f"{fn}({name})", fn, name, None), False
    code = compile_value(Source(FIELD, text, found.end(), end), GROUPING)
    title = f"{fn}({name}) by {text[found.end() : end].strip()}"
    return _Aggregate(title, fn, name, code.function(_fail)), any(root == "r" for root, _ in code.reads)


def _error(text: str, offset: int, sentence: str) -> InvalidExpression:
    return Source(FIELD, text).error(offset, sentence)
