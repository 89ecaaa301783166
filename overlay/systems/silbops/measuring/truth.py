"""Who should get a publication: brute force over the states of its window, with an index over all subscriptions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.index import Access
from overlay.systems.silbops.measuring.states import Offer, Span, States, Wanted, rows_in
from overlay.systems.silbops.publishing import Refusal, permitted
from overlay.systems.silbops.scope.compiling import Test, compiled
from overlay.systems.silbops.scope.evaluation import ScopeError
from overlay.systems.silbops.scope.tree import Tree


@dataclass(frozen=True, slots=True)
class Publication:
    client: str
    number: int
    notification: Values
    context: Values
    """All of the publisher's, at ``publish``."""
    scope: Tree | None
    intended_us: float
    published_us: float
    processed_us: float
    """When its last copy was processed."""
    is_refused: bool = False
    meant_for: Tree | None = None
    """By which applications drop it, where brokers do not."""


@dataclass(frozen=True, slots=True)
class Owed:
    """By client."""

    due: frozenset[str]
    """It is true in every state of the window."""
    allowed: frozenset[str]
    """It is true in some state of the window."""


class Truth:
    def __init__(
        self,
        subscribers: Mapping[str, States[Wanted]],
        publishers: Mapping[str, States[Offer]],
        *,
        is_pruned: bool = False,
    ) -> None:
        """``is_pruned``: brokers may withdraw what is false in the contexts of publishers that they know."""
        self._subscribers, self._publishers, self._is_pruned = subscribers, publishers, is_pruned
        self._index = Access()
        self._spans = [(client, place) for client, states in subscribers.items() for place in range(len(states.spans))]
        """By their number in the index."""
        for number, (client, place) in enumerate(self._spans):
            self._index.add(number, subscribers[client].spans[place].row.filter)
        self._tests: dict[Tree, Test] = {}

    def owed(self, one: Publication) -> Owed:
        offered = self._publishers.get(one.client)
        if one.is_refused or offered is None:
            return _NOBODY
        found: dict[str, list[int]] = defaultdict(list)
        for client, place in map(self._spans.__getitem__, self._index.match(one.notification)):
            if client != one.client:
                found[client].append(place)
        window = offered.window(one.published_us, one.processed_us)
        sent = list(self._contexts(one, offered, window, one.context))
        earlier = [] if not self._is_pruned else [offered.contexts[state] or {} for state in window]
        due, allowed = [], []
        for client, places in found.items():
            states = self._subscribers[client]
            spans = [states.spans[place] for place in places]
            truths = [
                any(self._holds(span, state, states, context, one.scope or one.meant_for) for span in spans)
                for context in sent
                if context is not None
                for state in states.window(one.published_us, one.processed_us)
            ]
            if any(truths):
                allowed.append(client)
            if all(truths) and None not in sent and self._is_kept(one, offered, window, earlier, states, spans):
                due.append(client)
        return Owed(frozenset(due), frozenset(allowed))

    def _is_kept(
        self,
        one: Publication,
        offered: States[Offer],
        window: range,
        earlier: Sequence[Values],
        states: States[Wanted],
        spans: Sequence[Span[Wanted]],
    ) -> bool:
        """Whether no context of the publisher within the window is a reason to have withdrawn the subscription."""
        return all(
            any(self._holds(span, state, states, context, None) for span in spans)
            for whole in earlier
            for context in self._contexts(one, offered, window, whole)
            if context is not None
            for state in states.window(one.published_us, one.processed_us)
        )

    def _contexts(
        self, one: Publication, offered: States[Offer], window: range, context: Values
    ) -> Iterator[Values | None]:
        """What of a context goes with it, by state of the publisher's advertisements; ``None``: none allows it."""
        for state in window:
            try:
                rows: list[Offer] = rows_in(offered.spans, state)
                yield permitted(rows, one.notification, context, one.scope)
            except Refusal:
                yield None

    def _holds(
        self, span: Span[Wanted], state: int, states: States[Wanted], pub: Values, publishers: Tree | None
    ) -> bool:
        """The content matches: it remains whether it is set, and the functions of context. That of the publisher may be
        true of a subscriber without a context."""
        if not span.is_in(state):
            return False
        this, own = states.contexts[state], span.row.scope
        if own is not None and (this is None or not self._is_true(own, pub, this)):
            return False
        return publishers is None or self._is_true(publishers, pub, this or {})

    def _is_true(self, scope: Tree, pub: Values, this: Values) -> bool:
        test = self._tests.get(scope)
        if test is None:
            test = self._tests[scope] = compiled(scope)
        try:
            return test(pub, this)
        except ScopeError:
            return False


_NOBODY = Owed(frozenset(), frozenset())
