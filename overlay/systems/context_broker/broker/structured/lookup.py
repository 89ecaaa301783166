"""One iterative lookup as a value: whom to ask next, and when the closest brokers have all answered.

It starts with the closest brokers that we know; each that answers names those closest that *it* knows. Of all that are
known and were neither silent nor refused, the ``width`` closest are the front. Those of the front that were not asked
are asked, at most ``parallel`` at a time; the lookup is complete when all of the front have answered, as none of them
knows a closer one::

    round 1   the front of what we know           ── 27 ─>  named: closer ones
    round 2   the front of what is known by now   ── 27 ─>  named: nobody closer, complete

One that is silent is passed over, and leaves a doubt where it would be in the front: it may be alive, and have what the
others lack or something newer. Whoever needs to know asks it again, until it is known to be gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, auto

from overlay.core.addresses import Address
from overlay.systems.context_broker.broker.structured.identifiers import of_broker

MOST_QUESTIONS = 100
"""In one lookup, whoever is named: between honest brokers it takes a tenth."""
MOST_CANDIDATES = 1000


class State(Enum):
    """Of a broker in a lookup."""

    NAMED = auto()
    ASKED = auto()
    ANSWERED = auto()
    SILENT = auto()
    GONE = auto()
    """Or it refuses."""


class Lookup:
    """Towards ``target``. ``own``, where given, is ourselves: one that has answered and needs no asking."""

    def __init__(self, target: int, width: int, parallel: int, own: Address | None = None) -> None:
        self.target = target
        self.rounds = 0
        """Questions one after the other, so far: those sent for want of an answer of round 1 are of round 2."""
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
        """These were named."""
        for broker in brokers:
            if broker not in self._states and len(self._states) < MOST_CANDIDATES:
                self._states[broker] = State.NAMED

    def next_to_ask(self) -> list[Address]:
        """Those to ask now; they count as asked."""
        room = min(self._parallel - self._in_flight, MOST_QUESTIONS - self.questions)
        named = [broker for broker in self._front() if self._states[broker] is State.NAMED][: max(room, 0)]
        for broker in named:
            self._states[broker] = State.ASKED
        self._in_flight += len(named)
        self.questions += len(named)
        return named

    def settle(self, broker: Address, state: State) -> None:
        """What became of a question."""
        assert self._states[broker] is State.ASKED
        self._states[broker] = state
        self._in_flight -= 1

    def doubt(self, brokers: Iterable[Address], *, vouched: bool = False) -> None:
        """These may be there, and are not to be relied on. ``vouched``: by one that answered, so that it is not only
        for us to say that they are gone."""
        for broker in brokers:
            if broker not in self._states and len(self._states) < MOST_CANDIDATES:
                self._states[broker] = State.SILENT
                if vouched:
                    self._vouched.add(broker)

    def due(self) -> list[Address]:
        """Those that are to keep what lies here, the silent ones included, the closest first."""
        return self._nearest(broker for broker, state in self._states.items() if state is not State.GONE)

    def in_doubt(self) -> list[Address]:
        """The silent ones among them."""
        return [broker for broker in self.due() if self._states[broker] is State.SILENT]

    @property
    def has_majority(self) -> bool:
        """Whether more than half of them have answered, so that they meet those of any update that was confirmed."""
        due = self.due()
        return 2 * sum(self._states[broker] is State.ANSWERED for broker in due) > len(due)

    def insist(self, is_gone: Callable[[Address], bool]) -> None:
        """Rely on those in doubt again, until they are silent once more; of those that are gone there is none."""
        while gone := [b for b in self.in_doubt() if b not in self._vouched and is_gone(b)]:
            self._states.update(dict.fromkeys(gone, State.GONE))
        self._states.update(dict.fromkeys(self.in_doubt(), State.NAMED))

    @property
    def in_flight(self) -> int:
        """Questions that are open."""
        return self._in_flight

    @property
    def is_complete(self) -> bool:
        return all(self._states[broker] is State.ANSWERED for broker in self._front())

    @property
    def heard_nobody(self) -> bool:
        """Whether there were others to ask and none of them answered."""
        others = [state for broker, state in self._states.items() if broker != self._own]
        return bool(others) and State.ANSWERED not in others

    def closest(self) -> list[Address]:
        """Those of the front that have answered, the closest first."""
        return [broker for broker in self._front() if self._states[broker] is State.ANSWERED]

    def _front(self) -> list[Address]:
        passed_over = (State.SILENT, State.GONE)
        return self._nearest(broker for broker, state in self._states.items() if state not in passed_over)

    def _nearest(self, brokers: Iterable[Address]) -> list[Address]:
        return sorted(brokers, key=lambda broker: of_broker(broker) ^ self.target)[: self._width]

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` where the books disagree."""
        states = list(self._states.values())
        assert self._in_flight == states.count(State.ASKED) <= self._parallel
        assert self.questions <= MOST_QUESTIONS
        assert len(states) <= MOST_CANDIDATES
