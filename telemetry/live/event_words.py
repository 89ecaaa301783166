"""What happened in a run, in words: its events as sentences, and what a chart writes beside those that it marks. Pure.

Counterparts: ``overlay.runtime.deployment_runner`` and ``overlay.systems.context_broker.broker.events`` report events,
``telemetry.live.marks`` chooses what charts mark. What falls together is told together: ten brokers that leave are one
sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from overlay.deployment import phases
from overlay.deployment.fleet import RESTARTED
from overlay.faults.churn import CRASHED
from telemetry.summary.processes import server_number

TOGETHER_S = 1.0
"""Events alike that begin within this time of the first are told as one."""
NAMED = 3
"""More processes than this are counted, not named."""
WELL = "exit 0"
"""How a process that ended as it should is described."""

Names = Mapping[str, int]
"""The index of the broker that has an address."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Sentences for one process and for several, and what a chart writes beside its mark; without one there is none."""

    one: str
    many: str
    label: str = ""


WORDINGS = {
    "started": Wording("{who} started", "{who} started"),
    "ended": Wording("{who} ended", "{who} ended"),
    "restarted": Wording("{who} was started again", "{who} were started again", "{who} back"),
    "killed": Wording("{who} was {reason}", "{who} were {reason}", "{who} down"),
    "broke": Wording("{who} ended with {reason}", "{who} ended with {reason}", "{who} down"),
    "gave_up": Wording("{who} was given up: {reason}", "{who} were given up: {reason}", "{who} given up"),
    "fault_injected": Wording("{who} was ordered to be killed", "{who} were ordered to be killed"),
    "restart_asked": Wording("{who}: {reason}", "{who}: {reason}"),
    "churn_left": Wording("{who} left gracefully (churn)", "{who} left gracefully (churn)", "{who} away"),
    "churn_crashed": Wording("{who} crashed by churn", "{who} crashed by churn", "{who} away"),
    "churn_returned": Wording("{who} came back by churn", "{who} came back by churn", "{who} back"),
    "fault_began": Wording("fault: {reason}", "", "{reason}"),
    "fault_ended": Wording("fault over: {reason}", "", "{reason}"),
    "digest": Wording("the digest of all that was delivered is {reason}", ""),
    "noted": Wording("{reason}", "{reason}"),
    "MonitoringStarted": Wording("{who} began to watch its neighbours", "{who} began to watch their neighbours"),
    "NeighbourJoined": Wording("{who} is now a neighbour of {other}", "{who} have new neighbours"),
    "NeighbourLeft": Wording("{who} was left by its neighbour {other}", "neighbours of {who} left"),
    "NeighbourLost": Wording("{who} lost its neighbour {other}", "{who} lost {other}", "{other} lost"),
    "NeighbourReturned": Wording("{who} has its neighbour {other} back", "{who} have {other} back", "{other} back"),
    "NeighbourRefused": Wording("{who}–{other}: link not mutual, dropped", "{who} dropped links that were not mutual"),
    "NetworkLeft": Wording("{who} left", "{who} left"),
    "JoinFailed": Wording("{who} could not join: nobody it was told of answered", "{who} could not join"),
    "NeighboursFound": Wording("{who} found enough neighbours", "{who} found enough neighbours"),
    "NeighboursAwaited": Wording("{who} waits for more neighbours", "{who} wait for more neighbours"),
    "LimitReached": Wording("{who} reached the bound of its {limit}", "{who} reached the bound of their {limit}"),
    "launching": Wording("brokers are launched", ""),
    "warming": Wording("clients begin, one after the other", "", "warming"),
    "measuring": Wording("measuring began", "", "measuring"),
    "draining": Wording("measuring ended; the last answers are awaited", "", "draining"),
    "finished": Wording("all requests have ended", ""),
    "running": Wording("all brokers are up", "", "all up"),
    "degraded": Wording("not all brokers are up: {reason}", "", "degraded"),
    "stopping": Wording("stopping: {reason}", "", "stopping"),
    "stopped": Wording("stopped: {reason}", "", "stopped"),
    "failed": Wording("failed: {reason}", "", "failed"),
}
"""By kind; a kind is an event's name, a phase, or one of the ways in which a process begins and ends."""
LIMITS = {
    "table": "data table",
    "table share": "share of the data table for one provider or sender",
    "pending": "pending requests",
    "pending share": "share of the pending requests for one sender",
    "neighbours": "neighbours",
    "favours": "pings for others",
    "budget": "strangers' bytes",
}


FAMILIES = ("phase", "fault", "process", "neighbour", "limit", "other")
"""Kinds of events by which a timeline is filtered."""
_FAULTS = frozenset({"fault_injected", "fault_began", "fault_ended"})
_PROCESSES = frozenset({"started", "ended", "restarted", "killed", "broke", "gave_up", "restart_asked"})
_PHASES = frozenset({*phases.TRANSITIONS.values(), phases.LAUNCHING})


def family_of(kind: str) -> str:
    """One of ``FAMILIES`` for a kind of ``WORDINGS``, or for one that has no wording."""
    if kind in _PHASES:
        return "phase"
    if kind in _FAULTS:
        return "fault"
    if kind in _PROCESSES or kind.startswith("churn_"):
        return "process"
    if kind == "LimitReached":
        return "limit"
    is_of_members = kind.startswith("Neighbour") or kind in ("MonitoringStarted", "NetworkLeft", "JoinFailed")
    return "neighbour" if is_of_members else "other"


@dataclass(slots=True)
class Group:
    """Events alike that fell together."""

    kind: str
    t_s: float
    reason: str = ""
    limit: str = ""
    processes: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    """The neighbours that are spoken of, as a process or an address."""

    def words(self) -> str:
        wording = WORDINGS.get(self.kind) or Wording(f"{{who}}: {_plain(self.kind)}", f"{{who}}: {_plain(self.kind)}")
        sentence = wording.many if wording.many and len(set(self.processes)) > 1 else wording.one
        return self._filled(sentence).removesuffix(": ")

    def _filled(self, text: str) -> str:
        who, other = together(self.processes), together(self.others)
        return text.format(who=who, other=other, reason=self.reason, limit=LIMITS.get(self.limit, self.limit))


def kind_of(name: str, detail: Mapping[str, Any]) -> str:
    """Under which wording an event is told."""
    reason = str(detail.get("reason") or "")
    if name == "phase":
        return str(detail.get("phase") or "")
    if name == "process_started":
        return "restarted" if detail.get("after") else "started"
    if name == "process_ended":
        is_meant = reason in ("", WELL, CRASHED) or reason.startswith(RESTARTED)
        return "ended" if is_meant else "killed" if reason.startswith("killed") else "broke"
    return name


def is_marked(name: str, detail: Mapping[str, Any]) -> bool:
    """Whether charts mark it: a phase, a fault, or a neighbour lost or returned."""
    wording = WORDINGS.get(kind_of(name, detail))
    return bool(wording and wording.label)


def happened(events: Iterable[Mapping[str, Any]], names: Names) -> list[dict[str, Any]]:
    """``[{t_s, words, count, kind}]`` in the order of time, for a list of events; kinds are of ``FAMILIES``."""
    return [
        {"t_s": one.t_s, "words": one.words(), "count": len(one.processes), "kind": family_of(one.kind)}
        for one in grouped(events, names)
    ]


def grouped(events: Iterable[Mapping[str, Any]], names: Names) -> list[Group]:
    """``events`` as a snapshot carries them: ``{t_s, process, name, detail}``."""
    found: list[Group] = []
    newest: dict[tuple[Any, ...], Group] = {}
    for event in sorted(events, key=lambda one: one["t_s"]):
        detail = event["detail"]
        kind = kind_of(event["name"], detail)
        reason, limit = _reason(detail), str(detail.get("limit") or "")
        subject = subject_of(event["process"], detail)
        alike = kind, reason, limit, server_number(subject) is None
        group = newest.get(alike)
        if group is None or event["t_s"] - group.t_s > TOGETHER_S:
            group = newest[alike] = Group(kind, event["t_s"], reason, limit)
            found.append(group)
        group.processes.append(subject)
        if neighbour := detail.get("neighbour"):
            group.others.append(f"broker-{names[neighbour]}" if neighbour in names else str(neighbour))
    return found


def _reason(detail: Mapping[str, Any]) -> str:
    """What else is said of an event: why, which fault, or which digest."""
    return next((str(detail[name]) for name in ("reason", "label", "digest") if detail.get(name)), "")


def subject_of(process: str, detail: Mapping[str, Any]) -> str:
    """Whom an event is about that ``process`` told: the supervisor reports of others."""
    if "broker" in detail:
        return f"broker-{detail['broker']}"
    return str(detail.get("process") or process)


def together(processes: Sequence[str]) -> str:
    """``broker 3``; ``brokers 3, 5 and 7``; ``10 brokers``; ``2 load generators``; an address as it is."""
    distinct = sorted(set(processes), key=lambda one: (server_number(one) is None, server_number(one) or 0, one))
    if len(distinct) <= 1:
        return _named(distinct[0]) if distinct else ""
    indices = [server_number(one) for one in distinct]
    if None in indices:
        generators = all(_is_generator(one) for one in distinct)
        return f"{len(distinct)} {'load generators' if generators else 'processes'}"
    roles = {one.rpartition("-")[0] for one in distinct}
    kind = f"{roles.pop()}s" if len(roles) == 1 else "servers"
    if len(indices) > NAMED or kind == "servers":
        return f"{len(indices)} {kind}"
    return f"{kind} {', '.join(str(index) for index in indices[:-1])} and {indices[-1]}"


def _is_generator(process: str) -> bool:
    return re.fullmatch(r"[a-z]+s-\d+", process) is not None


def _named(process: str) -> str:
    if server_number(process) is not None:
        return process.replace("-", " ")
    if _is_generator(process):
        role, number = process.split("-")
        return f"the generator of {role}" if number == "0" else f"generator {int(number) + 1} of {role}"
    return process


def _plain(name: str) -> str:
    """``NeighbourLost`` and ``neighbour_lost`` as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name).lower()
