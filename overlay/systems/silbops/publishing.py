"""Whether a publication is allowed: the library and the edge broker both see to it (seed 002, section 2).

A publication belongs to those advertisements of its publisher that match it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn, Protocol

from overlay.core.errors import WireError
from overlay.systems.silbops.content.filters import Filter, matches
from overlay.systems.silbops.content.values import Value, Values
from overlay.systems.silbops.scope.tree import SUBSCRIBER, Tree, names
from overlay.systems.silbops.wire.messages import Code


class Offer(Protocol):
    """An advertisement, as far as it counts here."""

    @property
    def filter(self) -> Filter: ...
    @property
    def variables(self) -> frozenset[str]: ...
    @property
    def subscriber_variables(self) -> frozenset[str] | None: ...


class Refusal(WireError):
    """A call that is refused. Nothing has changed."""

    def __init__(self, code: Code, sentence: str) -> None:
        super().__init__(f"Refused ({code.name.lower().replace('_', ' ')}): {sentence}.")
        self.code = code
        self.sentence = sentence


def refuse(code: Code, sentence: str) -> NoReturn:
    raise Refusal(code, sentence)


def permitted(offers: Iterable[Offer], notification: Values, context: Values, scope: Tree | None) -> dict[str, Value]:
    """The publisher's context, cut to what may go with the notification. Raises ``Refusal``."""
    of = [one for one in offers if matches(one.filter, notification)]
    if not of:
        refuse(Code.NOT_ADVERTISED, "no advertisement of this publisher matches the notification")
    if scope is not None:
        readable = frozenset[str]().union(*(one.subscriber_variables or () for one in of))
        if unreadable := names(scope, SUBSCRIBER) - readable:
            refuse(Code.BAD_SCOPE, f"this.{min(unreadable)} is in no advertisement of the notification")
    return restricted(context, frozenset[str]().union(*(one.variables for one in of)))


def cut(context: Values, offers: Iterable[Offer], notification: Values) -> dict[str, Value]:
    """A publisher's context, as ``permitted`` cuts it for a notification that was allowed."""
    of = (one.variables for one in offers if matches(one.filter, notification))
    return restricted(context, frozenset[str]().union(*of))


def restricted(context: Values, allowed: frozenset[str]) -> dict[str, Value]:
    """To these variables."""
    return {name: context[name] for name in sorted(context) if name in allowed}
