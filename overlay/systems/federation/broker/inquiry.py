"""One query that a broker answers for a client or a neighbour, scope by scope. Pure; ``asking`` sends.

A scope is asked for when those that it needs are answered or have failed. Its answer is complete when all that were
asked have answered, or with the first notification if the query is about one entity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from overlay.systems.federation.broker.needs import Step
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import Notification


class Inquiry:
    def __init__(
        self,
        peer: str,
        query: m.Query,
        deadline: int,
        steps: Mapping[str, Step],
        given: Mapping[str, list[Notification]],
    ) -> None:
        self.peer, self.query, self.deadline, self.steps = peer, query, deadline, steps
        self._notes: dict[str, list[Notification]] = {scope: list(notes) for scope, notes in given.items()}
        """What is known by scope, also of scopes that are still asked for."""
        self._waiting = dict.fromkeys(steps)
        """Scopes not asked for yet, needed ones first."""
        self._open: dict[str, set[int]] = {}
        """Scopes asked for, with the numbers of what is not answered."""
        self._codes = dict.fromkeys(given, m.Code.GOOD)
        """Scopes that are done or given; GOOD is answered."""
        self._failures: dict[str, m.Code] = {}
        """The first error of a scope, while others may still answer it."""

    @property
    def is_done(self) -> bool:
        return not self._waiting and not self._open

    def take_next(self) -> str | None:
        """A scope to ask for now: each that it needs is answered or has failed."""
        for scope in self._waiting:
            if all(need in self._codes for need in self.steps[scope].needs):
                del self._waiting[scope]
                return scope
        return None

    def has(self, needs: Iterable[str]) -> bool:
        """Whether the data of these scopes are known: a provider that needs others is not asked."""
        return all(self._codes.get(need) is m.Code.GOOD for need in needs)

    def failure(self, scope: str) -> m.Code:
        """Why none of its providers can be asked: what they need has failed, or there is none."""
        codes = [self._codes[need] for need in self.steps[scope].needs]
        return next((code for code in codes if code), m.Code.NO_PROVIDER)

    def share(self, scope: str, now: int) -> int:
        """Time for its answer, ns."""
        return max(0, self.deadline - now) // self.steps[scope].levels

    def needed(self, scope: str) -> tuple[Notification, ...]:
        """The data that go with its query."""
        return tuple(note for need in self.steps[scope].needs for note in self._notes.get(need, ()))

    def asked(self, scope: str, numbers: Iterable[int], failure: m.Code) -> None:
        """It was asked for under these numbers. Without any it has failed."""
        self._open[scope] = set(numbers)
        if not self._open[scope]:
            self._failures.setdefault(scope, failure)
        self._close(scope)

    def answered(self, scope: str, number: int, code: m.Code, notes: Iterable[Notification]) -> set[int]:
        """Returns the numbers that need not be answered any more."""
        numbers = self._open[scope]
        numbers.discard(number)
        if code:
            self._failures.setdefault(scope, code)
        else:
            self._notes.setdefault(scope, []).extend(notes)
        is_enough = self.query.entity_id is not None and bool(self._notes.get(scope))
        needless = set(numbers) if is_enough else set()
        numbers -= needless
        self._close(scope)
        return needless

    def numbers(self) -> list[int]:
        """Of all that is not answered."""
        return sorted(number for numbers in self._open.values() for number in numbers)

    def reply(self) -> m.Answer:
        """GOOD if all scopes wanted are answered, otherwise the first error. Once it is done."""
        wanted = dict.fromkeys(self.query.scopes)
        code = next((code for scope in wanted if (code := self._codes[scope])), m.Code.GOOD)
        notes = tuple(note for scope in wanted if not self._codes[scope] for note in self._notes.get(scope, ()))
        return m.Answer(self.query.req, code, notes)

    def _close(self, scope: str) -> None:
        if not self._open[scope]:
            del self._open[scope]
            is_answered = scope in self._notes or scope not in self._failures
            self._codes[scope] = m.Code.GOOD if is_answered else self._failures[scope]
