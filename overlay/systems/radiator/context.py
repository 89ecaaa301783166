"""Contexts: the people, the time span and the attributes of a message. Their canonical JSON, limits, and joining.

::

    {"a":{"location":"Joe's Pub"},"n":1,"p":["Alice"],"t":[1700000000000,1700000060000]}
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from overlay.core.binary import canonical
from overlay.core.errors import WireError

MAX_BYTES = 16_384
"""Maximum canonical JSON of a client's context, and maximum JSON that is parsed."""
MAX_ORIGINALS = 1_000
"""Maximum ``n`` of a client's context."""
MAX_DEPTH = 8
"""Maximum nesting of a client's context; the outermost object is the first level, a value in an attribute the third."""
_MEMBERS = {"a", "n", "p", "t"}
_LATEST_MS = 1 << 63

Json = Any
"""A JSON value: ``None``, a boolean, a number, a string, a list or an object."""
Attributes = Mapping[str, Json]


class MalformedContext(WireError):
    """JSON that is no context, or no attributes."""


class TooLargeContext(MalformedContext):
    """A context of more than ``MAX_BYTES``."""


@dataclass(frozen=True, slots=True)
class Context:
    """One message, or several that were joined."""

    people: tuple[str, ...]
    """Distinct names, in order."""
    start: int
    """ms since 1970, by the application's clock."""
    end: int
    """ms since 1970; not before ``start``."""
    attributes: Attributes
    n: int = 1
    """How many original messages it holds."""

    def as_json(self) -> dict[str, Json]:
        return {"a": self.attributes, "n": self.n, "p": self.people, "t": (self.start, self.end)}

    def encode(self) -> bytes:
        """Its canonical JSON."""
        return canonical(self.as_json())


def parse_context(data: bytes) -> Context:
    """The context that a client sent. Raises ``MalformedContext``, of which ``TooLargeContext`` is one."""
    if len(data) > MAX_BYTES:
        raise TooLargeContext(f"The context has {len(data):,} bytes; at most {MAX_BYTES:,} are accepted.")
    return check_context(_load(data))


def check_context(value: Json) -> Context:
    """The context that a client sent, from parsed JSON. Raises as ``parse_context``."""
    context = read_context(value)
    if context.n > MAX_ORIGINALS:
        _refuse(f"n is {context.n:,}; a client may send at most {MAX_ORIGINALS:,}")
    if context.n > 1:
        single = [name for name, values in context.attributes.items() if type(values) is not list]
        if single:
            _refuse(f"n is {context.n}, so every attribute must be a list; {single[0]!r:.60} is not")
    if not _is_within(value, MAX_DEPTH):
        _refuse(f"it is nested more than {MAX_DEPTH} deep")
    size = len(_canonical_or_refuse(value))
    if size > MAX_BYTES:
        raise TooLargeContext(f"The context's canonical JSON has {size:,} bytes; at most {MAX_BYTES:,} are accepted.")
    return context


def read_context(value: Json) -> Context:
    """A context of parsed JSON without a client's limits, such as an aggregate. Raises ``MalformedContext``."""
    if type(value) is not dict or value.keys() != _MEMBERS:
        _refuse("it must be an object with the members a, n, p and t, and no other")
    people, span, attributes, n = value["p"], value["t"], value["a"], value["n"]
    _check_people(people)
    if type(span) is not list or len(span) != 2 or not all(type(t) is int and 0 <= t < _LATEST_MS for t in span):
        _refuse("t must be [from, to], two integers in ms since 1970")
    if span[0] > span[1]:
        _refuse(f"t ends at {span[1]}, before it begins at {span[0]}")
    if type(attributes) is not dict:
        _refuse("a must be an object")
    if type(n) is not int or n < 1:
        _refuse("n must be an integer of at least 1")
    return Context(tuple(people), span[0], span[1], attributes, n)


def parse_body(data: bytes) -> list[Context]:
    """The contexts of a propagation's body: one, or a list of them. Raises ``MalformedContext``."""
    value = _load(data)
    return [read_context(one) for one in (value if type(value) is list else [value])]


def join(contexts: Sequence[Context]) -> Context:
    """All of them as one: the union of people, the smallest time span, and a list of values for each attribute.

    Values are in the order of ``contexts``. One context alone is returned as it is.
    """
    if len(contexts) == 1:
        return contexts[0]
    attributes: dict[str, list[Json]] = {}
    for context in contexts:
        for name, value in context.attributes.items():
            attributes.setdefault(name, []).extend(value if context.n > 1 else (value,))
    return combine(contexts, attributes)


def combine(contexts: Sequence[Context], attributes: Attributes) -> Context:
    """People, time span and number of all ``contexts``, with these attributes."""
    return Context(
        people=tuple(dict.fromkeys(person for context in contexts for person in context.people)),
        start=min(context.start for context in contexts),
        end=max(context.end for context in contexts),
        attributes=attributes,
        n=sum(context.n for context in contexts),
    )


def _load(data: bytes) -> Json:
    try:
        return _DECODER.decode(data.decode())
    except UnicodeDecodeError as error:
        _refuse(f"byte {error.start} is not UTF-8")
    except json.JSONDecodeError as error:
        _refuse(f"it is not JSON: {error.msg} at character {error.pos}")
    except RecursionError:
        _refuse(f"it is nested more than {MAX_DEPTH} deep")
    except ValueError:  # an integer of more than 4,300 digits
        _refuse("it has a number that is too long")


def _refuse_constant(text: str) -> NoReturn:
    _refuse(f"{text} is no JSON number")


def _canonical_or_refuse(value: Json) -> bytes:
    try:
        return canonical(value)
    except WireError as error:
        _refuse(f"it {error}")


def _check_people(people: Json) -> None:
    if type(people) is not list or not people or not all(type(name) is str and name for name in people):
        _refuse("p must be a list of at least one name")
    if len(set(people)) != len(people):
        twice = next(name for name in people if people.count(name) > 1)
        _refuse(f"p has {twice!r:.60} twice")


def _is_within(value: Json, levels: int) -> bool:
    """Whether lists and objects in ``value`` are nested at most ``levels`` deep."""
    layer = [value]
    for _ in range(levels + 1):
        layer = [one for one in layer if type(one) is dict or type(one) is list]
        if not layer:
            return True
        layer = [inner for one in layer for inner in (one.values() if type(one) is dict else one)]
    return False


def _refuse(reason: str) -> NoReturn:
    raise MalformedContext(f"Malformed context: {reason}.")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
