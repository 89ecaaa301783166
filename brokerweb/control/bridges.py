"""Tells the supervisor which bridges of a network should run, and writes what it observes of them."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone

from brokerweb.bridges import services
from brokerweb.bridges.models import Bridge, BridgeState
from brokerweb.kit.moments import moment
from brokerweb.networks.models import Desired, Network
from overlay.deployment import phases
from overlay.runtime.supervisor_client import Status, SupervisorClient, SupervisorRefused
from overlay.systems.bridging import CONNECTED

log = logging.getLogger(__name__)

REPORT_EVERY = timedelta(seconds=5)
"""Counters are written so often; another state at once."""
STATES = {"up": BridgeState.CONNECTING, "failed": BridgeState.FAILED, "stopped": BridgeState.STOPPED}
"""By the state of the process; all others are on their way."""


def settle(network: Network, bridges: Sequence[Bridge], supervisor: SupervisorClient, status: Status) -> Status:
    """Tell the supervisor, if it knows others than those that should run."""
    wanted = {one.number: one for one in bridges if one.desired == Desired.RUNNING}
    known = {row["number"]: row["revision"] for row in status.get("bridges", ()) if row["revision"]}
    is_ours = status["epoch"] == network.epoch and network.desired == Desired.RUNNING
    if status["phase"] not in phases.SERVING or not is_ours:
        return status
    if known == {number: one.revision for number, one in wanted.items()}:
        return status
    told = {str(n): {"revision": one.revision, "document": services.whole(one)} for n, one in wanted.items()}
    try:
        return supervisor.bridges(network.pk, network.epoch, told)
    except (SupervisorRefused, OSError) as error:
        log.warning("the bridges of network %s cannot be started: %s", network.pk, error)
        return status


def write(bridges: Sequence[Bridge], status: Status | None) -> None:
    """What was observed of each."""
    rows = {row["number"]: row for row in (status or {}).get("bridges", ())}
    for bridge in bridges:
        row = rows.get(bridge.number)
        seen = _seen(row if row is not None and row["revision"] in (0, bridge.revision) else {})
        _store(bridge, seen)


def _seen(row: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a row that its process has."""
    report = row.get("report") or {}
    at_ms = report.get("since_unix_ms") or row.get("since_unix_ms")
    process, why = row.get("state", "stopped"), row.get("reason", "")
    state = STATES.get(process, BridgeState.CONNECTING)
    if state == BridgeState.CONNECTING:
        state = BridgeState.CONNECTED if report.get("state") == CONNECTED else state
        why = ": ".join(filter(None, (process, why))) if process != "up" else report.get("reason", "")
    elif state == BridgeState.STOPPED:
        why = ""
    return {
        "state": state,
        "reason": str(why)[:500],
        "pid": row.get("pid"),
        "restarts": row.get("restarts", 0),
        "report": report,
        **({"since": moment(at_ms)} if at_ms else {}),
    }


def _store(bridge: Bridge, seen: dict[str, Any]) -> None:
    now = timezone.now()
    differs = {name for name, value in seen.items() if getattr(bridge, name) != value}
    if differs <= {"since"} or (differs <= {"since", "report"} and now < bridge.seen + REPORT_EVERY):
        return
    if seen["state"] == bridge.state:
        seen.pop("since", None)
    else:
        seen.setdefault("since", now)
    Bridge.objects.filter(pk=bridge.pk, revision=bridge.revision).update(**seen, seen=now)
