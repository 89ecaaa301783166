"""All pairs of an accepted message and a recipient that one life of a server owes, each in one state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from overlay.core.node import NodeEvent
from overlay.systems.radiator.chains.propagation import Outcome, Propagated, Settled
from overlay.systems.radiator.clients.table import Entry, Key
from overlay.systems.radiator.context import Context
from overlay.systems.radiator.server.facts import MessageAccepted, PendingDropped
from overlay.systems.radiator.server.service import Service

Pair = tuple[int, Key]
"""A message's number, and the recipient's IP address and id."""
PENDING, EMITTED, DROPPED = "pending", "emitted", "dropped"
FINAL = {str(outcome) for outcome in Outcome} - {str(Outcome.IN_FLIGHT)}


class Ledger:
    """Of one epoch. ``deliveries`` are all that applications got: by (epoch, propagation), the keys."""

    def __init__(self, epoch: int, deliveries: dict[tuple[int, int], set[Key]], *, is_honest: bool) -> None:
        self._epoch, self._deliveries, self._is_honest = epoch, deliveries, is_honest
        self.contexts: dict[int, Context] = {}
        self.instances: dict[Pair, int] = {}
        """The recipient as it was when the message was accepted."""
        self.states: dict[Pair, str] = {}
        self.counts: Counter[str] = Counter()
        """Pairs by state."""
        self.propagations: dict[int, tuple[tuple[int, ...], bytes, frozenset[Key]]] = {}
        """By number: messages, body and recipients."""
        self.accepted: dict[tuple[int, int], int] = {}
        """By instance and request, the message's number."""
        self._settled: set[int] = set()
        self.outcomes: dict[int, dict[Key, str]] = {}

    # ---- what the retention says

    def becomes_due(self, number: int, context: Context, recipients: Iterable[Entry]) -> None:
        assert number == len(self.contexts), "messages are not numbered one after the other"
        self.contexts[number] = context
        for entry in recipients:
            self.instances[number, entry.key] = entry.instance
            self._move((number, entry.key), None, PENDING)

    def leave(self, messages: Sequence[int], recipients: Iterable[Entry]) -> None:
        for entry in recipients:
            for number in messages:
                self._move((number, entry.key), PENDING, EMITTED)

    def drops(self, entry: Entry, messages: Iterable[int]) -> None:
        for number in messages:
            self._move((number, entry.key), PENDING, DROPPED)

    def begins(self, number: int, messages: tuple[int, ...], body: bytes, recipients: Iterable[Key]) -> None:
        """A propagation is formed."""
        assert number not in self.propagations, "two propagations have one number"
        keys = frozenset(recipients)
        assert all(self.states[message, key] == EMITTED for message in messages for key in keys)
        self.propagations[number] = messages, body, keys

    def _move(self, pair: Pair, before: str | None, after: str) -> None:
        assert self.states.get(pair) == before, f"{pair} is {self.states.get(pair)}, not {before}"
        self.states[pair] = after
        self.counts[after] += 1
        if before is not None:
            self.counts[before] -= 1

    # ---- what the journal says

    def read(self, events: Iterable[NodeEvent]) -> None:
        for event in events:
            if isinstance(event, MessageAccepted):
                self._accepted(event)
            elif isinstance(event, PendingDropped):
                for number in event.messages:
                    self._move((number, (event.ip, event.id)), DROPPED, event.reason)
            elif isinstance(event, Propagated):
                messages, _, keys = self.propagations.setdefault(event.propagation, (event.messages, b"", frozenset()))
                assert event.messages == messages and event.recipients >= len(keys)
            elif isinstance(event, Settled):
                self._settle(event)
        assert not self.counts[DROPPED], "messages were dropped, and not accounted"

    def _accepted(self, event: MessageAccepted) -> None:
        call = event.instance, event.req
        assert call not in self.accepted, "a call was accepted twice"
        assert event.number == len(self.accepted)
        self.accepted[call] = event.number
        due = sum(number == event.number for number, _ in self.instances)
        assert event.due == due, f"{event.due} recipients in the journal, {due} in the loop"

    def _settle(self, event: Settled) -> None:
        assert event.propagation not in self._settled, "a propagation was settled twice"
        self._settled.add(event.propagation)
        missed = {(ip, id): outcome for ip, id, outcome in event.missed}
        assert set(missed) <= set(event.recipients)
        _, _, keys = self.propagations[event.propagation]
        assert not keys or keys == set(event.recipients), "a propagation was settled for others than its recipients"
        for key in event.recipients:
            outcome = missed.get(key, str(Outcome.DELIVERED))
            assert outcome in FINAL, f"settled as {outcome}"
            for number in event.messages:
                self._move((number, key), EMITTED, outcome)
            self.outcomes.setdefault(event.propagation, {})[key] = outcome
            if self._is_honest and key not in missed:
                got = self._deliveries.get((self._epoch, event.propagation), ())
                assert key in got, f"{key} is said to have propagation {event.propagation}, and has not"

    # ---- after a step

    def check(self, server: Service) -> None:
        """Counts of the server agree with the pairs."""
        under_way = list(server.propagations.under_way)
        in_flight = sum(len(one.messages) * len(one.outcomes) for one in under_way)
        assert self.counts[EMITTED] == in_flight, f"{self.counts[EMITTED]} pairs left, {in_flight} are under way"
        said = server.statistics(0)
        assert said["pairs_retained"] == self.counts[PENDING]
        pending = {number for (number, _), state in self.states.items() if state == PENDING}
        assert said["retained"] == len(pending) <= server._config.retained_max
        still = sum(len(one.messages) * [*one.outcomes.values()].count(Outcome.IN_FLIGHT) for one in under_way)
        assert said["pairs_in_flight"] == still
        assert said["accepted"] == len(self.contexts)

    # ---- what an application gets

    def delivered(self, propagation: int, key: Key, instance: int, body: bytes, *, is_strict: bool) -> tuple[int, ...]:
        """The messages of a propagation that a client was given.

        A push may overtake the registration of another client at the address of the one that it is for, where the
        network reorders, and a chain forwards to whoever has the address and the id. Else ``is_strict``.
        """
        assert propagation in self.propagations, "a propagation that never began was delivered"
        messages, expected, keys = self.propagations[propagation]
        assert body == expected, "the body was changed on its way"
        if is_strict:
            assert key in keys, f"propagation {propagation} was not for {key}"
            due = {self.instances[number, key] for number in messages}
            assert due == {instance}, f"propagation {propagation} was for an earlier instance of {key}"
        self._deliveries.setdefault((self._epoch, propagation), set()).add(key)
        return messages

    def journal(self) -> Any:
        """To compare equal seeds."""
        return sorted(self.states.items()), sorted(self.accepted.items())
