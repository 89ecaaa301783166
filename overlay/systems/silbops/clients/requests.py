"""Messages without an answer, and the calls of the application that wait for them.

A call has as many requests as messages tell it: none, one, or two for each filter that siena rewrites. Publications
are numbered with them, and are kept here only until the channel has taken them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from overlay.systems.silbops.clients.events import Accepted, Event, Rejected, Unanswered
from overlay.systems.silbops.clients.wires import ToBroker
from overlay.systems.silbops.wire import messages as m


class Call:
    """What the application asked, until all its requests are answered."""

    __slots__ = ("number", "refusal", "waiting")

    def __init__(self, number: int) -> None:
        self.number = number
        self.waiting = 0
        """Requests without an answer."""
        self.refusal: m.Refused | None = None


class Request:
    __slots__ = ("calls", "message")

    def __init__(self, message: ToBroker, calls: Sequence[Call]) -> None:
        self.message = message
        self.calls = calls

    @property
    def key(self) -> Hashable:
        """What it is about; a later request about the same replaces it."""
        match self.message:
            case m.Subscribe(id=id) | m.Unsubscribe(id=id):
                return "subscription", id
            case m.Advertise(id=id) | m.Unadvertise(id=id):
                return "advertisement", id
            case m.Publish(number):
                return "publication", number
        return "context"


class Requests:
    """By number, in rising order. The numbers of a client only rise."""

    __slots__ = ("_last", "_open", "_report", "_restarted")

    def __init__(self, first: int, report: Callable[[Event], None]) -> None:
        self._last = first - 1
        self._open: dict[int, Request] = {}
        self._report = report
        self._restarted = 0
        """The first number since a broker began with nothing: publications before it come after what it was told."""

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[tuple[int, ToBroker]]:
        return iter([(number, one.message) for number, one in self._open.items()])

    def get(self, number: int) -> ToBroker | None:
        request = self._open.get(number)
        return None if request is None else request.message

    @property
    def last(self) -> int:
        """The highest number so far."""
        return self._last

    def draw(self) -> int:
        self._last += 1
        return self._last

    def begin(self) -> Call:
        return Call(self.draw())

    def add(self, number: int, message: ToBroker, *calls: Call) -> None:
        self._open[number] = Request(message, calls)
        for call in calls:
            call.waiting += 1

    def sent(self, number: int) -> None:
        """Of a publication: only a refusal answers it."""
        self._open.pop(number, None)

    def back(self, publications: Iterable[m.Publish]) -> None:
        """The broker may not have received them."""
        returned = {one.number: Request(one, ()) for one in publications}
        if returned:
            everything = {**returned, **self._open}
            self._open = {number: everything[number] for number in sorted(everything, key=self._order)}

    def close(self, call: Call) -> None:
        """All its requests are added."""
        if not call.waiting:
            self._report(Accepted(call.number))

    def answered(self, number: int, refusal: m.Refused | None = None) -> ToBroker | None:
        """The message that was answered; ``None`` if it is not waiting for one."""
        request = self._open.pop(number, None)
        if request is None:
            return None
        for call in request.calls:
            call.refusal = call.refusal or refusal
            self._less(call)
        return request.message

    def newest(self) -> None:
        """What a later request replaces need not be sent again: its calls wait for the later one."""
        by_key: dict[Hashable, int] = {}
        for number, request in list(self._open.items()):
            replaced = self._open.pop(by_key.get(request.key, -1), None)
            if replaced is not None:
                self._move(replaced, request)
            by_key[request.key] = number

    def restart(self, messages: Iterable[tuple[int, ToBroker]]) -> None:
        """The broker has nothing of what was asked: these messages tell all of it. Publications stay."""
        before = self._open
        self._open = {number: one for number, one in before.items() if isinstance(one.message, m.Publish)}
        fresh = {number: Request(message, ()) for number, message in messages}
        by_key = {one.key: one for one in fresh.values()}
        for number, one in before.items():
            if number in self._open:
                continue
            if one.key in by_key:
                self._move(one, by_key[one.key])
            else:
                for call in one.calls:
                    self._less(call)
        self._restarted = min(fresh, default=self._last)
        self._open = {**fresh, **self._open}

    def abandon(self) -> None:
        """No answer is waited for. The requests stay, to be sent when there is a broker again."""
        calls = {call.number: call for one in self._open.values() for call in one.calls}
        for number in sorted(calls):
            self._report(Unanswered(number))
        for one in self._open.values():
            one.calls = ()

    def drop_publications(self) -> int:
        """They will not be sent. Returns how many."""
        numbers = [number for number, one in self._open.items() if isinstance(one.message, m.Publish)]
        for number in numbers:
            del self._open[number]
        return len(numbers)

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        assert all(number <= self._last for number in self._open)
        waiting: dict[Call, int] = {}
        for one in self._open.values():
            for call in one.calls:
                waiting[call] = waiting.get(call, 0) + 1
        assert all(call.waiting == number for call, number in waiting.items())

    def _order(self, number: int) -> tuple[bool, int]:
        return number < self._restarted, number

    def _move(self, replaced: Request, by: Request) -> None:
        """``replaced`` is no longer open."""
        for call in replaced.calls:
            if call in by.calls:
                self._less(call)
        by.calls = tuple(dict.fromkeys((*replaced.calls, *by.calls)))

    def _less(self, call: Call) -> None:
        call.waiting -= 1
        if not call.waiting:
            refusal = call.refusal
            self._report(
                Accepted(call.number) if refusal is None else Rejected(call.number, refusal.code, refusal.text)
            )
