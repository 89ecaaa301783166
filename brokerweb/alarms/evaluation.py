"""Updates the states of alarms from new steps of the time series. Called by the process that probes, in its thread."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from django.db import transaction

from brokerweb.alarms import rules
from brokerweb.alarms.measures import MEASURES
from brokerweb.alarms.models import Alarm, AlarmEvent
from brokerweb.alarms.rules import Rule, State, Status
from brokerweb.alarms.services import rule_of
from brokerweb.kit.moments import moment
from brokerweb.networks.models import Desired, Network
from brokerweb.networks.probes import FEW_SECONDS, Probes, Tier, values_of

MOST_EVENTS = 500
"""Rows of the log of each network."""
WATCHED = FEW_SECONDS
"""The tier that alarms read."""
REST_S = 30.0
"""Between two looks for networks that were stopped."""
WORDS = {State.FIRING: "fires", State.RESOLVED: "is resolved"}
"""Changes that are logged."""


class Watch:
    """The alarms of the networks that one process probes."""

    def __init__(self) -> None:
        self._statuses: dict[str, Status] = {}
        self._rested_s = 0.0

    def closed(self, network: Network, probes: Probes, steps: Mapping[Tier, Sequence[int]]) -> None:
        """New steps of the series of ``network``: evaluate its alarms. ``steps`` has the begins, by tier."""
        if begins := steps.get(WATCHED):
            alarms = list(Alarm.objects.filter(network=network))
            for alarm in alarms:
                alarm.network = network
                self._evaluate(alarm, probes, begins)
        self._rest(time.monotonic())

    def _evaluate(self, alarm: Alarm, probes: Probes, begins: Sequence[int]) -> None:
        rule = Rule(alarm.comparison, alarm.value, alarm.clears, alarm.for_s)
        status = self._statuses.get(alarm.pk) or _stored(alarm)
        for at_s, value in _values(alarm, probes, begins):
            before, status = status, rules.step(status, rule, at_s, value)
            if status.state is not before.state:
                _change(alarm, status, at_s, value)
        self._statuses[alarm.pk] = status

    def _rest(self, now_s: float) -> None:
        """Alarms of networks that were stopped do not fire."""
        if now_s - self._rested_s < REST_S:
            return
        self._rested_s = now_s
        awake = (State.PENDING.value, State.FIRING.value)
        for alarm in Alarm.objects.filter(state__in=awake, network__desired=Desired.STOPPED).select_related("network"):
            state = State.RESOLVED if alarm.state == State.FIRING else State.QUIET
            at_s = int(time.time())
            self._statuses[alarm.pk] = status = Status(state, at_s, at_s)
            _change(alarm, status, at_s, None)
        known = set(Alarm.objects.values_list("pk", flat=True))
        self._statuses = {pk: status for pk, status in self._statuses.items() if pk in known}


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


def _change(alarm: Alarm, status: Status, at_s: float, value: float | None) -> None:
    """Store another state, and log it."""
    at = moment(status.since_s * 1000)
    with transaction.atomic():
        stored = Alarm.objects.filter(pk=alarm.pk).update(state=status.state.value, since=at, seen=value)
        word = WORDS.get(status.state)
        if not stored or word is None:
            return
        rule, measure = rule_of(alarm), MEASURES[alarm.measure]
        now = "The network was stopped." if value is None else f"Now {measure.write(value)}."
        event = {"alarm": alarm.pk, "at": moment(at_s * 1000), "state": status.state.value, "value": value}
        AlarmEvent.objects.create(network=alarm.network, rule=rule[:200], words=f"{rule} {word}. {now}"[:300], **event)
        rows = AlarmEvent.objects.filter(network=alarm.network)
        if oldest := rows.values_list("pk", flat=True)[MOST_EVENTS : MOST_EVENTS + 1].first():
            rows.filter(pk__lte=oldest).delete()
