"""Updates the states of alarms from new steps of the time series. Called by the process that probes, in its thread."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from brokerweb.alarms import rules
from brokerweb.alarms.measures import MEASURES
from brokerweb.alarms.models import Alarm, AlarmEvent
from brokerweb.alarms.rules import Rule, State, Status
from brokerweb.alarms.services import WATCHED, rule_of
from brokerweb.kit.moments import moment
from brokerweb.networks.models import Desired, Network
from brokerweb.networks.probes import Probes, Tier, values_of

MOST_EVENTS = 500
"""Rows of the log of each network."""
REST_S = 5.0
"""Between two looks for alarms that are no longer measured."""
NETWORK_STOPPED, BROKER_LEFT = "The network was stopped.", "It was drained or removed."
WORDS = {State.FIRING: "fires", State.RESOLVED: "is resolved"}
"""Changes that are logged."""


class Watch:
    """The alarms of the networks of one host. If two processes watch them, as while one takes over from the other, each
    change is stored and logged by the first."""

    def __init__(self) -> None:
        self._statuses: dict[str, Status] = {}
        self._rested_s = float("-inf")

    def closed(self, network: Network, probes: Probes, steps: Mapping[Tier, Sequence[int]]) -> None:
        """New steps of the series of ``network``: evaluate its alarms. ``steps`` has the begins, by tier."""
        if begins := steps.get(WATCHED):
            for alarm in Alarm.objects.filter(network=network):
                alarm.network = network
                if _rests(alarm) is None:
                    self._evaluate(alarm, probes, begins)

    def rest(self) -> None:
        """Resolve alarms that are no longer measured. Call it every second, whether a network runs or not."""
        now_s = time.monotonic()
        if now_s - self._rested_s < REST_S:
            return
        self._rested_s = now_s
        here = Alarm.objects.filter(network__host=settings.HOST_NAME)
        of_broker = Q(broker__isnull=False) & ~Q(network__members={})
        awake = here.filter(state__in=(State.PENDING.value, State.FIRING.value))
        for alarm in awake.filter(Q(network__desired=Desired.STOPPED) | of_broker).select_related("network"):
            if (why := _rests(alarm)) is not None:
                at_s = int(time.time())
                after = State.RESOLVED if alarm.state == State.FIRING else State.QUIET
                self._statuses.pop(alarm.pk, None)
                _change(alarm, Status(after, at_s, at_s), at_s, None, why)
        known = set(here.values_list("pk", flat=True))
        self._statuses = {pk: status for pk, status in self._statuses.items() if pk in known}

    def _evaluate(self, alarm: Alarm, probes: Probes, begins: Sequence[int]) -> None:
        rule = Rule(alarm.comparison, alarm.value, alarm.clears, alarm.for_s)
        status = self._statuses.get(alarm.pk)
        if status is None or status.state != alarm.state:  # this process is new, or another one has changed it
            status = _stored(alarm)
        for at_s, value in _values(alarm, probes, begins):
            before, status = status, rules.step(status, rule, at_s, value)
            if status.state is not before.state and not _change(alarm, status, at_s, value):
                self._statuses.pop(alarm.pk, None)
                return
        self._statuses[alarm.pk] = status


def _rests(alarm: Alarm) -> str | None:
    """Why nothing is measured for it on purpose; ``None`` if it is to be evaluated."""
    if alarm.network.desired == Desired.STOPPED:
        return NETWORK_STOPPED
    return BROKER_LEFT if str(alarm.broker) in alarm.network.members else None


def _stored(alarm: Alarm) -> Status:
    """After a restart of the process."""
    since_s = alarm.since.timestamp()
    return Status(State(alarm.state), since_s, since_s)


def _values(alarm: Alarm, probes: Probes, begins: Sequence[int]) -> Iterable[tuple[int, float | None]]:
    found = probes.records(WATCHED, (alarm.broker,), begins[0], begins[-1] + WATCHED.step_s)[alarm.broker]
    known = dict(zip(found["at_s"].tolist(), values_of(alarm.measure, found).tolist(), strict=True))
    for at_s in begins:
        value = known.get(at_s)
        yield at_s + WATCHED.step_s, None if value is None or value != value else value


def _change(alarm: Alarm, status: Status, at_s: float, value: float | None, why: str = "") -> bool:
    """Store another state, and log it. False if the stored state is another one than that of ``alarm``, because another
    process was faster."""
    at, before, after = moment(status.since_s * 1000), alarm.state, status.state.value
    with transaction.atomic():
        stored = Alarm.objects.filter(pk=alarm.pk, state=before).update(state=after, since=at, seen=value)
        if not stored:
            return False
        alarm.state, alarm.since = after, at
        word = WORDS.get(status.state)
        if word is None or (status.state is State.RESOLVED and before != State.FIRING):
            return True  # back from pending: what is resolved was logged before
        rule, measure = rule_of(alarm), MEASURES[alarm.measure]
        now = why if value is None else f"Now {measure.write(value)}."
        event = {"alarm": alarm.pk, "at": moment(at_s * 1000), "state": after, "value": value}
        AlarmEvent.objects.create(network=alarm.network, rule=rule[:200], words=f"{rule} {word}. {now}"[:300], **event)
        rows = AlarmEvent.objects.filter(network=alarm.network)
        if oldest := rows.values_list("pk", flat=True)[MOST_EVENTS : MOST_EVENTS + 1].first():
            rows.filter(pk__lte=oldest).delete()
    return True
