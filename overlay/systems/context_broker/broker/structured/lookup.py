"""The state of one iterative lookup: which brokers to ask next, and whether all of the closest have answered.

It starts with the closest known brokers. Each answer names the closest brokers that *its sender* knows. The *front* is
the ``width`` closest of all known brokers without those that refused or did not answer. Brokers of the front are asked,
at most ``parallel`` at a time. The lookup is complete when all of the front have answered, because then none of them
knows a closer broker::

    round 1   the front of our contacts        ── 27 ─>  closer brokers are named
    round 2   the front of all known brokers   ── 27 ─>  no closer broker is named: complete

A broker that does not answer is skipped. If it would be in the front, the result is in doubt: the broker may be alive
and have data that the others lack, or newer data. A caller that must be certain asks it again until it is known to be
gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, auto

from overlay.core.addresses import Address
from overlay.systems.context_broker.broker.structured.identifiers import of_broker

MOST_QUESTIONS = 100
"""Maximum questions in one lookup. Without malicious brokers, a lookup needs a tenth."""
MOST_CANDIDATES = 1000


class State(Enum):
    """The state of a broker in a lookup."""

    NAMED = auto()
    ASKED = auto()
    ANSWERED = auto()
    SILENT = auto()
    GONE = auto()
    """Gone, or it refuses."""


class Lookup:
    """A lookup of ``target``. ``own``, if given, is this broker, which counts as having answered."""

    def __init__(self, target: int, width: int, parallel: int, own: Address | None = None) -> None:
        self.target = target
        self.rounds = 0
        """The number of sequential rounds so far: a question after an unanswered one of round 1 is in round 2."""
        self.questions = 0
        self._width = width
        self._parallel = parallel
        self._own = own
        self._in_flight = 0
        self._states: dict[Address, State] = {}
        self._vouched: set[Address] = set()
        if own is not None:
            self._states[own] = State.ANSWERED

    def offer(self, brokers: Iterable[Address]) -> None:
        """Add brokers named in an answer."""
        for broker in brokers:
            if broker not in self._states and len(self._states) < MOST_CANDIDATES:
                self._states[broker] = State.NAMED

    def next_to_ask(self) -> list[Address]:
        """The brokers to ask now, which then count as asked."""
        room = min(self._parallel - self._in_flight, MOST_QUESTIONS - self.questions)
        named = [broker for broker in self._front() if self._states[broker] is State.NAMED][: max(room, 0)]
        for broker in named:
            self._states[broker] = State.ASKED
        self._in_flight += len(named)
        self.questions += len(named)
        return named

    def settle(self, broker: Address, state: State) -> None:
        """Record the result of a question."""
        assert self._states[broker] is State.ASKED
        self._states[broker] = state
        self._in_flight -= 1

    def doubt(self, brokers: Iterable[Address], *, vouched: bool = False) -> None:
        """Add brokers that may be alive but are unreliable. ``vouched``: named by a broker that answered, so that we
        alone cannot decide that they are gone."""
        for broker in brokers:
            if broker not in self._states and len(self._states) < MOST_CANDIDATES:
                self._states[broker] = State.SILENT
                if vouched:
                    self._vouched.add(broker)

    def due(self) -> list[Address]:
        """The keepers of ``target``, including those that did not answer, closest first."""
        return self._nearest(broker for broker, state in self._states.items() if state is not State.GONE)

    def in_doubt(self) -> list[Address]:
        """The keepers that did not answer."""
        return [broker for broker in self.due() if self._states[broker] is State.SILENT]

    @property
    def has_majority(self) -> bool:
        """Whether more than half of the keepers have answered, so at least one has each confirmed update."""
        due = self.due()
        return 2 * sum(self._states[broker] is State.ANSWERED for broker in due) > len(due)

    def insist(self, is_gone: Callable[[Address], bool]) -> None:
        """Ask the doubtful brokers again, except those that are known to be gone."""
        while gone := [b for b in self.in_doubt() if b not in self._vouched and is_gone(b)]:
            self._states.update(dict.fromkeys(gone, State.GONE))
        self._states.update(dict.fromkeys(self.in_doubt(), State.NAMED))

    @property
    def in_flight(self) -> int:
        """The number of open questions."""
        return self._in_flight

    @property
    def is_complete(self) -> bool:
        return all(self._states[broker] is State.ANSWERED for broker in self._front())

    @property
    def heard_nobody(self) -> bool:
        """Whether other brokers were known but none answered."""
        others = [state for broker, state in self._states.items() if broker != self._own]
        return bool(others) and State.ANSWERED not in others

    def closest(self) -> list[Address]:
        """The brokers of the front that have answered, closest first."""
        return [broker for broker in self._front() if self._states[broker] is State.ANSWERED]

    def _front(self) -> list[Address]:
        passed_over = (State.SILENT, State.GONE)
        return self._nearest(broker for broker, state in self._states.items() if state not in passed_over)

    def _nearest(self, brokers: Iterable[Address]) -> list[Address]:
        return sorted(brokers, key=lambda broker: of_broker(broker) ^ self.target)[: self._width]

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state is inconsistent."""
        states = list(self._states.values())
        assert self._in_flight == states.count(State.ASKED) <= self._parallel
        assert self.questions <= MOST_QUESTIONS
        assert len(states) <= MOST_CANDIDATES
