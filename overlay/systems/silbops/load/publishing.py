"""A publisher of a workload: it advertises once, and then publishes."""

from __future__ import annotations

from overlay.core.timers import earliest
from overlay.systems.silbops.clients.events import Event, Rejected
from overlay.systems.silbops.content.filters import EVERYTHING, written_filter
from overlay.systems.silbops.content.values import Value
from overlay.systems.silbops.load.draws import GROUP, PUBLISHERS, admitted, nanoseconds
from overlay.systems.silbops.load.life import Life, as_json
from overlay.systems.silbops.load.pace import Pace
from overlay.systems.silbops.load.plans import ClientPlan
from overlay.systems.silbops.load.shared import Shared
from overlay.systems.silbops.rows import Advertised, ContextSet, Published
from overlay.systems.silbops.scope.text import formatted
from overlay.systems.silbops.workload import FIXED, share_of

VARIABLES = frozenset({"x", "y"})


class Publishing(Life):
    def __init__(self, plan: ClientPlan, shared: Shared) -> None:
        super().__init__(plan, shared)
        workload, draws, number = shared.workload, shared.draws, plan.number
        interval = nanoseconds(workload.publish_interval_s)
        count = share_of(workload.notifications, number, workload.publishers) if workload.notifications else None
        self._publications = Pace(shared.windows, interval, draws.phase("publications", number, interval), count)
        interval = nanoseconds(workload.context_interval_s)
        self._changes = Pace(shared.windows, interval, draws.phase("walks", number, interval))
        if workload.publisher_mobility == FIXED:
            self._changes.stop()
        self._notifications = draws.notifications(number)
        self._contexts = draws.contexts(PUBLISHERS, number, workload.context_interval_s)
        self._context: dict[str, Value] = {}
        meant_for = admitted(workload.admitted_share) if workload.has_groups else None
        self._scope = meant_for if shared.terms.has_publisher_scope else None
        self._meant_for = "" if meant_for is None or self._scope is not None else formatted(meant_for)
        self._refused = False
        """Whether something was refused since the last publication."""

    @property
    def is_finished(self) -> bool:
        return self._is_over

    @property
    def is_settled(self) -> bool:
        return self._publications.is_done

    def _begin(self, now: int) -> None:
        self._change(now)
        readable = frozenset({GROUP}) if self._scope is not None else None
        id = self.core.advertise(EVERYTHING, VARIABLES, now, subscriber_variables=readable).id
        variables = sorted(VARIABLES), sorted(readable or ())
        told = Advertised(self.name, id, as_json(written_filter(EVERYTHING)), *variables, self.shared.us(now))
        self.report_row(now, told)

    def _next_own(self) -> int | None:
        return earliest(self._publications.next_due(self.core.has_room), self._changes.next_due(True))

    def _act(self, now: int) -> None:
        change = self._changes.next_due(True)
        if change is not None and change <= now:
            self._changes.take(now)
            self._change(now)
        else:
            self._publish(self._publications.take(now), now)

    def _change(self, now: int) -> None:
        values = next(self._contexts)
        is_new, self._context = values != self._context, values
        self.core.set_context(values, now)
        at = self.shared.us(now)
        self.report_row(now, ContextSet(self.name, as_json(values), at, at, at, is_new))

    def _publish(self, intended: int, now: int) -> None:
        notification, us = next(self._notifications), self.shared.us
        self.shared.tally.started(now - intended)
        number = self.core.publish(notification, now, scope=self._scope)
        self._refused = False
        self._collect(now)
        scope = "" if self._scope is None else formatted(self._scope)
        content = as_json(notification), as_json(self._context), scope
        self.report_row(now, Published(self.name, number, *content, us(intended), us(now), self._meant_for))
        outcome = "refused" if self._refused else "answered"
        self.shared.tally.ended(outcome, 1)
        self._sample(outcome, 0, intended, now, now, f"{self.name}|{number}|")

    def _note(self, event: Event, now: int) -> None:
        super()._note(event, now)
        self._refused = self._refused or isinstance(event, Rejected)

    def _stop(self, now: int) -> None:
        self._publications.stop()
        self._changes.stop()
