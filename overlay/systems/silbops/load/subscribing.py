"""A subscriber of a workload: it subscribes once, and then its context changes."""

from __future__ import annotations

from itertools import repeat

from overlay.core.timers import earliest
from overlay.journal.facts import HandOver
from overlay.systems.silbops.clients.events import Accepted, Connected, Event, Notified, Rejected, Unanswered
from overlay.systems.silbops.content.filters import written_filter
from overlay.systems.silbops.content.values import Value
from overlay.systems.silbops.load.draws import GROUP, SUBSCRIBERS, nanoseconds
from overlay.systems.silbops.load.life import Life, as_json
from overlay.systems.silbops.load.pace import Pace
from overlay.systems.silbops.load.plans import ClientPlan
from overlay.systems.silbops.load.shared import Shared
from overlay.systems.silbops.rows import ContextSet, Delivered, Subscribed
from overlay.systems.silbops.scope.text import formatted
from overlay.systems.silbops.workload import share_of

OUTCOMES = {Accepted: "answered", Rejected: "refused"}


class _Change:
    """A call of ``setContext`` without an answer."""

    __slots__ = ("at", "intended", "is_new", "values")

    def __init__(self, values: dict[str, Value], intended: int, at: int, is_new: bool) -> None:
        self.values, self.intended, self.at, self.is_new = values, intended, at, is_new


class Subscribing(Life):
    def __init__(self, plan: ClientPlan, shared: Shared) -> None:
        super().__init__(plan, shared)
        workload, draws, number = shared.workload, shared.draws, plan.number
        interval = nanoseconds(workload.context_interval_s)
        count = (
            share_of(workload.changes, number, workload.changing) if workload.changes and workload.changing else None
        )
        self._changes = Pace(shared.windows, interval, draws.phase("changes", number, interval), count)
        if number >= workload.changing:
            self._changes.stop()
        interval = nanoseconds(workload.handover_interval_s) or 1
        self._moves = Pace(shared.windows, interval, draws.phase("moves", number, interval))
        brokers = len(shared.servers)
        if not workload.handover_interval_s or brokers < 2:
            self._moves.stop()
        self._brokers = draws.brokers(number, plan.broker, brokers) if brokers > 1 else repeat(0)
        self._contexts = draws.contexts(SUBSCRIBERS, number, workload.context_interval_s)
        self._context: dict[str, Value] | None = None
        self._open: dict[int, _Change] = {}
        """By the number of the call."""
        self._moving: tuple[int, int, int] | None = None
        """From which broker to which, since when."""

    @property
    def is_finished(self) -> bool:
        """It waits for notifications until it is abandoned."""
        return self._is_over

    @property
    def is_settled(self) -> bool:
        """Whether it intends nothing more, and all is answered."""
        return self._changes.is_done and self._moves.is_done and not self._open and self._moving is None

    def _begin(self, now: int) -> None:
        self._change(now, now)
        draws, number = self.shared.draws, self.plan.number
        filters = draws.filters(number)
        for content, scope in zip(filters, draws.scopes(len(filters)), strict=True):
            id = self.core.subscribe(content, now, scope=scope).id
            text = "" if scope is None else formatted(scope)
            told = Subscribed(self.name, id, as_json(written_filter(content)), text, self.shared.us(now))
            self.report_row(now, told)

    def _next_own(self) -> int | None:
        return earliest(self._changes.next_due(self.core.has_room), self._moves.next_due(True))

    def _act(self, now: int) -> None:
        move = self._moves.next_due(True)
        if move is not None and move <= now:
            self._moves.take(now)
            self._move(next(self._brokers), now)
        else:
            self._change(self._changes.take(now), now)

    def _change(self, intended: int, now: int) -> None:
        values = next(self._contexts)
        is_new, self._context = values != self._context, values
        self.shared.tally.started(now - intended)
        call = self.core.set_context(values, now)
        self._open[call] = _Change(values, intended, now, is_new)

    def _move(self, broker: int, now: int) -> None:
        if self._moving is None and self._served is not None:
            self._moving = self._served[0], broker, now
            self.core.attach(self.shared.site(broker), now)

    def _note(self, event: Event, now: int) -> None:
        super()._note(event, now)
        match event:
            case Accepted(call) | Rejected(call) | Unanswered(call) if call in self._open:
                accepted = now if isinstance(event, Accepted) else 0
                self._end(self._open.pop(call), OUTCOMES.get(type(event), "timed_out"), accepted, now)
            case Notified():
                self._note_notified(event, now)
            case Connected():
                self._end_move("done", now)

    def _note_notified(self, event: Notified, now: int) -> None:
        workload, counters = self.shared.workload, self.shared.tally.counters
        group = (self._context or {}).get(GROUP, 0.0)
        if workload.has_groups and isinstance(group, float) and group >= workload.admitted_share:
            counters["not_admitted"] = counters.get("not_admitted", 0) + 1
            return  # without publisher_scope, subscribers tell by themselves what is not for them
        publisher, us = f"{event.publisher:016x}", self.shared.us(now)
        self.report_row(now, Delivered(self.name, publisher, event.number, list(event.ids), us))

    def _end_move(self, outcome: str, now: int) -> None:
        if self._moving is None:
            return
        old, new, began = self._moving
        self._moving = None
        us, phase = self.shared.us, self.shared.phase(began)
        self._facts.append(HandOver(*self.identity, old, new, phase, outcome, us(began), us(now), -1))

    def _end(self, change: _Change, outcome: str, accepted: int, now: int) -> None:
        us = self.shared.us
        self.shared.tally.ended(outcome, 1)
        times = us(change.intended), us(change.at), us(accepted) if accepted else 0
        self.report_row(now, ContextSet(self.name, as_json(change.values), *times, change.is_new))
        self._sample(outcome, 0, change.intended, change.at, now, f"{self.name}||context")

    def _stop(self, now: int) -> None:
        self._changes.stop()
        self._moves.stop()
        self._end_move("failed", now)
        for change in self._open.values():
            self._end(change, "timed_out", 0, now)
        self._open.clear()
