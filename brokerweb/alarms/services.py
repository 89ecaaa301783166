"""Use cases of alarms, called by pages and REST."""

from __future__ import annotations

import time
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet

from brokerweb.alarms.measures import MEASURES
from brokerweb.alarms.models import Alarm, AlarmEvent
from brokerweb.alarms.rules import ABOVE, COMPARISONS, clearing
from brokerweb.changelog.recording import recorded
from brokerweb.networks import broker_index
from brokerweb.networks.models import UP, Host, Network
from brokerweb.networks.probes import FEW_SECONDS
from brokerweb.networks.probing import probe_file
from brokerweb.networks.services import gone
from overlay.core.errors import InvalidSetting, shown
from telemetry.filters.errors import InvalidValue

WATCHED = FEW_SECONDS
"""The tier that alarms read."""
MOST = 20
"""Alarms of one network."""
LONGEST_S = 86_400
MOST_VALUE = 1e15
SHOWN = 20
"""Latest changes on the page."""


def create(
    network: Network,
    *,
    measure: str,
    comparison: str,
    value: Any,
    for_s: int = 60,
    clears: Any = None,
    broker: int | None = None,
    owner: User | None = None,
) -> Alarm:
    """Watch a measure. ``value`` and ``clears`` are numbers in its unit, or texts with one.

    Raises ``InvalidSetting``.
    """
    if measure not in MEASURES:
        raise InvalidSetting("measure", f"must be one of {', '.join(MEASURES)}, not {shown(measure, 40)}")
    if comparison not in COMPARISONS:
        raise InvalidSetting("comparison", f"must be above or below, not {shown(comparison, 40)}")
    if not 0 <= for_s <= LONGEST_S:
        raise InvalidSetting("for_s", f"must be from 0 to {LONGEST_S:,} seconds, not {for_s}")
    if broker is not None:
        broker_index.known(network, broker, "broker")
    limit = _number(measure, "value", value)
    is_default = clears is None or clears == ""
    is_share = MEASURES[measure].unit == "share"
    back = clearing(comparison, limit, is_share=is_share) if is_default else _number(measure, "clears", clears)
    if back > limit if comparison == ABOVE else back < limit:
        side = "at most" if comparison == ABOVE else "at least"
        raise InvalidSetting("clears", f"must be {side} the threshold, {MEASURES[measure].write(limit)}")
    alarm = Alarm(network=network, measure=measure, comparison=comparison, value=limit, clears=back)
    alarm.for_s, alarm.broker, alarm.owner = for_s, broker, owner
    with recorded("add alarm", network, owner) as record:
        if network.alarms.count() >= MOST:  # within the transaction: of two at once, the second sees the first
            raise InvalidSetting("measure", f"this network has {MOST} alarms, the limit; delete one first")
        alarm.save()
        record.said = {"alarm": rule_of(alarm)}
    return alarm


def _number(measure: str, field: str, said: Any) -> float:
    if isinstance(said, bool) or not isinstance(said, int | float | str):
        raise InvalidSetting(field, f"must be a number, or a text such as {MEASURES[measure].example}")
    try:
        found = MEASURES[measure].read(said) if isinstance(said, str) else float(said)
    except (InvalidValue, OverflowError) as error:
        raise InvalidSetting(field, str(error)) from None
    most = 1 if MEASURES[measure].unit == "share" else MOST_VALUE
    if not 0 <= found <= most:
        raise InvalidSetting(field, f"must be from 0 to {most:g}, not {shown(said, 40)}")
    return found


def delete(alarm: Alarm, by: User | None = None) -> None:
    """It is watched no more; its log stays."""
    with recorded("delete alarm", alarm.network, by) as record:
        record.said = {"alarm": rule_of(alarm)}
        alarm.delete()


def rule_of(alarm: Alarm) -> str:
    """The rule in words, with its broker."""
    if alarm.broker is None:
        return str(alarm)
    return f"{broker_index.servers_of(alarm.network).in_text(alarm.broker)}: {alarm}"


def unwatched(network: Network) -> str:
    """Why its alarms are not evaluated now, as a sentence; empty if they are, or if the network is stopped."""
    if network.state not in UP:
        return ""
    host = Host.objects.filter(pk=network.host).first()
    if host is None or host.alive:
        return ""
    servers = range(len(broker_index.servers_of(network)))
    is_probed = bool(probe_file(network).newest(WATCHED, servers, time.time()))  # its live feed outlives its worker
    return "" if is_probed else f"Alarms are not evaluated. {gone(host)}"


def log_of(network: Network) -> QuerySet[AlarmEvent]:
    """What the alarms of a network did, newest first."""
    return AlarmEvent.objects.filter(network=network)
