"""The library: what an application calls (seed 002, section 2).

Each call has a number, and ``events`` has its answer: ``Accepted`` or ``Rejected``, whether the library refuses it or
the broker. Calls without a broker wait for one. Of publications, only refusals are answered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from overlay.core.errors import shown
from overlay.systems.silbops.clients.arms import Arm, Silbops, Told, Wanted
from overlay.systems.silbops.clients.attaching import Attaching
from overlay.systems.silbops.clients.events import Notified, Rejected
from overlay.systems.silbops.clients.requests import Call
from overlay.systems.silbops.clients.siena import Siena
from overlay.systems.silbops.clients.terms import NEW, Former, Terms
from overlay.systems.silbops.clients.wires import Wire
from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import MAX_ATTRIBUTES, InvalidContent, Values, checked_name, checked_values
from overlay.systems.silbops.publishing import Refusal, refuse
from overlay.systems.silbops.repeats import Repeats
from overlay.systems.silbops.scope.tree import Tree
from overlay.systems.silbops.wire import messages as m
from overlay.systems.silbops.wire.kinds import MAX_TTL_MS

NUMBERS = range(1 << 64)
"""Of subscriptions and advertisements."""


class Asked(NamedTuple):
    """A call about a subscription or an advertisement."""

    call: int
    id: int


class Client(Attaching):
    """``id``: 16 bytes of its own, by which brokers know it again. With ``former``, the first ``attach`` resumes; what
    is subscribed before that, under the former numbers, gets what was kept. Not in the siena arm: its ids on the wire
    are known to the process that drew them only."""

    def __init__(self, terms: Terms, id: m.Client, wire: Wire, now: int, former: Former = NEW) -> None:
        super().__init__(terms, id, wire, now, former)
        self._arm: Arm = (Siena if terms.is_siena else Silbops)(terms, self._requests.draw)
        self._repeats = Repeats()
        self._last_id = 0

    # ---- calls

    def set_context(self, values: Values, now: int) -> int:
        """The new context, all of it. Returns the number of the call."""
        return self._call(now, lambda: self._arm.set_context(checked_values(dict(values))))

    def advertise(
        self,
        filter: Filter,
        variables: frozenset[str],
        now: int,
        *,
        subscriber_variables: frozenset[str] | None = None,
        ttl_ms: int | None = None,
        id: int | None = None,
    ) -> Asked:
        """What will be published, and which variables of the context go with it. A known ``id`` is replaced."""
        id, ttl_ms = self._named(id), self._terms.ttl_ms if ttl_ms is None else ttl_ms
        one = m.Advertise(0, id, filter, variables, subscriber_variables, ttl_ms)

        def advertise() -> Told:
            _check_number(id)
            self._check_room(id, self._arm.offers)
            _check(one.ttl_ms, variables, subscriber_variables or ())
            return self._arm.advertise(one)

        return Asked(self._call(now, advertise), id)

    def unadvertise(self, id: int, now: int) -> int:
        return self._call(now, lambda: self._arm.unadvertise(id))

    def subscribe(
        self,
        filter: Filter,
        now: int,
        *,
        scope: Tree | None = None,
        ttl_ms: int | None = None,
        id: int | None = None,
    ) -> Asked:
        """Notifications that match the filter, and of which the function of context is true. A known ``id`` is
        replaced, or renewed."""
        id, ttl_ms = self._named(id), self._terms.ttl_ms if ttl_ms is None else ttl_ms
        one = Wanted(filter, scope, ttl_ms)

        def subscribe() -> Told:
            _check_number(id)
            self._check_room(id, self._arm.wanted)
            _check(one.ttl_ms)
            return self._arm.subscribe(id, one)

        return Asked(self._call(now, subscribe), id)

    def unsubscribe(self, id: int, now: int) -> int:
        return self._call(now, lambda: self._arm.unsubscribe(id))

    def publish(self, notification: Values, now: int, *, scope: Tree | None = None) -> int:
        """To subscribers of which ``scope``, if it is given, is true. Returns the number of the publication."""
        self._begin_call(now)
        number = self._requests.draw()
        try:
            self._check_waiting()
            message = self._arm.publish(number, checked_values(dict(notification), fewest=1), scope)
        except (Refusal, InvalidContent) as error:
            self._reject(number, error)
        else:
            self._requests.add(number, message)
            self._send((number,))
        return number

    # ---- its parts

    def check_invariants(self) -> None:
        super().check_invariants()
        self._arm.check_invariants()
        self._repeats.check_invariants()

    def _call(self, now: int, act: Callable[[], Told]) -> int:
        self._begin_call(now)
        call = self._requests.begin()
        try:
            self._check_waiting()
            messages = act()
        except (Refusal, InvalidContent) as error:
            self._reject(call.number, error)
            return call.number
        numbers = self._add(messages, call)
        self._requests.close(call)
        self._send(numbers)
        return call.number

    def _begin_call(self, now: int) -> None:
        self._now = now
        if not len(self._requests):
            self._heard_at = now

    def _add(self, messages: Told, call: Call) -> Sequence[int]:
        for message in messages:
            self._requests.add(_number(message), message, call)
        return [_number(message) for message in messages]

    def _named(self, id: int | None) -> int:
        id = self._last_id + 1 if id is None else id
        if id in NUMBERS:
            self._last_id = max(id, self._last_id)
        return id

    def _check_room(self, id: int, known: object) -> None:
        assert isinstance(known, dict)
        if id not in known and len(known) >= self._terms.most_objects:
            refuse(m.Code.LIMIT, f"a client has {self._terms.most_objects:,} of them at most")

    def _check_waiting(self) -> None:
        if len(self._requests) >= self._terms.most_waiting:
            refuse(m.Code.LIMIT, f"{self._terms.most_waiting:,} messages are waiting, the most that there may be")

    def _reject(self, number: int, error: Refusal | InvalidContent) -> None:
        if isinstance(error, InvalidContent):
            error = Refusal(m.Code.LIMIT if error.is_limit else m.Code.MALFORMED, error.sentence)
        self._news.append(Rejected(number, error.code, error.sentence))

    # ---- what the broker says

    def _begin(self, *, is_resumed: bool, is_moved: bool) -> None:
        if is_moved:
            self._arm.moved(self._now)
        if is_resumed:
            self._requests.newest()
        else:
            self._requests.restart((_number(message), message) for message in self._arm.everything())

    def _answer(self, number: int, refusal: m.Refused | None) -> None:
        message = self._requests.get(number)
        if isinstance(message, m.Unsubscribe | m.Unadvertise) and refusal and refusal.code is m.Code.UNKNOWN_ID:
            refusal = None  # it was sent again
        if message is not None and not isinstance(message, m.Publish):
            self._requests.answered(number, refusal)
            self._arm.answered(message, refusal is not None, self._now)
        elif refusal is not None and 0 < number <= self._requests.last:
            self._requests.sent(number)
            self._news.append(Rejected(number, refusal.code, refusal.text))
        else:
            self._drop("unexpected")

    def _hear(self, message: m.Notify) -> None:
        ids = self._arm.satisfied(message.ids)
        if not ids:
            self._drop("unsubscribed")
        elif not self._repeats.is_new(message.publisher, message.number):
            self._terms.counters["repeats"] += 1
        else:
            notification = self._arm.received(message.notification)
            self._news.append(Notified(message.publisher, message.number, notification, ids))


def _check_number(id: int) -> None:
    if type(id) is not int or id not in NUMBERS:
        refuse(m.Code.MALFORMED, f"the number of a subscription or advertisement is 0 to 2^64 - 1, not {shown(id)}")


def _check(ttl_ms: int, *several: Collection[str]) -> None:
    """Of a subscription or advertisement: its validity, and names of variables."""
    if not 0 <= ttl_ms <= MAX_TTL_MS:
        refuse(m.Code.LIMIT, f"ttl_ms is 0 to {MAX_TTL_MS:,}, not {ttl_ms:,}")
    for names in several:
        if len(names) > MAX_ATTRIBUTES:
            refuse(m.Code.LIMIT, f"an advertisement names {MAX_ATTRIBUTES} variables at most, not {len(names):,}")
        for name in names:
            checked_name(name)


def _number(message: object) -> int:
    return message.req  # type: ignore[attr-defined, no-any-return]  # all but publications have one
