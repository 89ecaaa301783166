"""The events of a run or network as sentences, and the labels of those that charts mark. Pure.

Counterparts: ``overlay.runtime.deployment_runner`` reports phases, faults and processes, which every system has;
servers report others, worded by ``Telemetry.wordings``. ``telemetry.live.marks`` chooses what charts mark. Events
at about the same time share a sentence: ten brokers that leave are one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from overlay.core.processes import role_of
from overlay.deployment import phases
from overlay.deployment.fleet import RESTARTED
from overlay.faults.churn import CRASHED
from overlay.systems.contract import System
from telemetry.summary.processes import Servers, server_number
from telemetry.systems.contract import Telemetry, Wording

TOGETHER_S = 1.0
"""Equal events within this time of the first one are combined."""
HANDED_OVER, DRAINED = "handed over", "drained"
"""The first words of a server that was drained, in ``overlay.runtime.server_process``."""
NAMED = 3
"""Up to this many processes are named, more are counted."""
WELL = "exit 0"
"""The reason of a normal end of a process."""

Names = Mapping[str, int]
"""The indices of brokers, by address."""


def _process(one: str, many: str, label: str = "") -> Wording:
    return Wording(one, many, label, "process")


def _phase(words: str, label: str = "") -> Wording:
    return Wording(words, "", label, "phase")


WORDINGS = {
    "started": _process("{who} started", "{who} started"),
    "ended": _process("{who} ended", "{who} ended"),
    "restarted": _process("{who} restarted", "{who} restarted", "{who} back"),
    "killed": _process("{who} was {reason}", "{who} were {reason}", "{who} down"),
    "broke": _process("{who} ended with {reason}", "{who} ended with {reason}", "{who} down"),
    "gave_up": _process("{who} was given up: {reason}", "{who} were given up: {reason}", "{who} given up"),
    "restart_asked": _process("{who}: {reason}", "{who}: {reason}"),
    "changing": Wording("the network changes to version {reason}", ""),
    "changed": Wording("version {reason} is complete", ""),
    "change_start": _process("{who} is added", "{who} are added"),
    "change_drain": _process("{who} leaves the network", "{who} leave the network"),
    "change_replace": _process("{who} restarts with changed settings", "{who} restart with changed settings"),
    "change_join": Wording("new links of {who}", "new links of {who}"),
    "change_cut": Wording("links of {who} are cut", "links of {who} are cut"),
    "churn_left": _process("{who} left gracefully (churn)", "{who} left gracefully (churn)", "{who} away"),
    "churn_crashed": _process("{who} crashed (churn)", "{who} crashed (churn)", "{who} away"),
    "churn_returned": _process("{who} returned (churn)", "{who} returned (churn)", "{who} back"),
    "fault_injected": Wording("kill of {who} ordered", "kill of {who} ordered", family="fault"),
    "fault_began": Wording("fault: {reason}", "", "{reason}", "fault"),
    "fault_ended": Wording("fault ended: {reason}", "", "{reason}", "fault"),
    "digest": Wording("digest of all deliveries: {reason}", ""),
    "noted": Wording("{reason}", "{reason}"),
    phases.LAUNCHING: _phase("launching servers"),
    "warming": _phase("clients start one after another", "warming"),
    "measuring": _phase("measuring began", "measuring"),
    "draining": _phase("measuring ended; waiting for what is under way", "draining"),
    "finished": _phase("all clients have ended"),
    "running": _phase("all servers are up", "all up"),
    "degraded": _phase("not all servers are up: {reason}", "degraded"),
    "stopping": _phase("stopping: {reason}", "stopping"),
    "stopped": _phase("stopped: {reason}", "stopped"),
    "failed": _phase("failed: {reason}", "failed"),
}
"""By kind: an event's name, a phase, or a way in which a process starts or ends."""
FAMILIES = ("phase", "fault", "process", "neighbour", "limit", "other")
"""Groups of kinds, for filtering a timeline."""


@dataclass(slots=True)
class Group:
    """Events of one kind at about the same time."""

    kind: str
    t_s: float
    reason: str = ""
    limit: str = ""
    processes: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    """The neighbours concerned, as a process or an address."""

    def words(self, wording: Wording, system: System) -> str:
        sentence = wording.many if wording.many and len(set(self.processes)) > 1 else wording.one
        who, other = together(self.processes, system), together(self.others, system)
        return sentence.format(who=who, other=other, reason=self.reason, limit=self.limit).removesuffix(": ")


class EventWords:
    """Words for the events of one run or network."""

    def __init__(self, telemetry: Telemetry, servers: Servers, names: Names | None = None) -> None:
        """``names`` may grow later."""
        self._telemetry, self._servers = telemetry, servers
        self._names = {} if names is None else names

    def wording(self, kind: str) -> Wording:
        """The wording of a kind; without one, its name as words."""
        return WORDINGS.get(kind) or self._telemetry.wordings.get(kind) or _unworded(kind)

    def is_marked(self, name: str, detail: Mapping[str, Any]) -> bool:
        """Whether charts mark it."""
        return bool(self.wording(kind_of(name, detail)).label)

    def happened(self, events: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """``[{t_s, words, count, kind}]`` in chronological order, for a list of events; kinds are from ``FAMILIES``."""
        found = []
        for group in self._grouped(events):
            wording = self.wording(group.kind)
            count = len(group.processes)
            found.append(
                {
                    "t_s": group.t_s,
                    "words": group.words(wording, self._telemetry.system),
                    "count": count,
                    "kind": wording.family,
                }
            )
        return found

    def subject_of(self, process: str, detail: Mapping[str, Any]) -> str:
        """The process that an event of ``process`` is about: the supervisor reports events of others."""
        if isinstance(detail.get("broker"), int):  # a system may have names of its own
            return self._servers.name(detail["broker"])
        return str(detail.get("process") or process)

    def together(self, processes: Sequence[str]) -> str:
        """Several processes in words; see the function."""
        return together(processes, self._telemetry.system)

    def process_at(self, address: str) -> str:
        """The server that has an address; an unknown address as it is."""
        return self._servers.name(self._names[address]) if address in self._names else address

    def _grouped(self, events: Iterable[Mapping[str, Any]]) -> list[Group]:
        found: list[Group] = []
        newest: dict[tuple[Any, ...], Group] = {}
        for event in sorted(events, key=lambda one: one["t_s"]):
            detail = event["detail"]
            kind, reason, limit = kind_of(event["name"], detail), _reason(detail), self._limit(detail)
            subject = self.subject_of(event["process"], detail)
            key = kind, reason, limit, server_number(subject) is None
            group = newest.get(key)
            if group is None or event["t_s"] - group.t_s > TOGETHER_S:
                group = newest[key] = Group(kind, event["t_s"], reason, limit)
                found.append(group)
            group.processes.append(subject)
            if neighbour := detail.get("neighbour"):
                group.others.append(self.process_at(str(neighbour)))
        return found

    def _limit(self, detail: Mapping[str, Any]) -> str:
        limit = str(detail.get("limit") or "")
        return self._telemetry.limits.get(limit, limit)


def kind_of(name: str, detail: Mapping[str, Any]) -> str:
    """Which wording an event has."""
    reason = str(detail.get("reason") or "")
    if name == "phase":
        return str(detail.get("phase") or "")
    if name == "process_started":
        return "restarted" if detail.get("after") else "started"
    if name == "process_ended":
        is_meant = reason in ("", WELL, CRASHED) or reason.startswith((RESTARTED, HANDED_OVER, DRAINED))
        return "ended" if is_meant else "killed" if reason.startswith("killed") else "broke"
    return name


def _reason(detail: Mapping[str, Any]) -> str:
    """The reason, the fault or the digest of an event."""
    return next((str(detail[name]) for name in ("reason", "label", "digest") if detail.get(name)), "")


def together(processes: Sequence[str], system: System) -> str:
    """``broker 3``; ``brokers 3, 5 and 7``; ``10 brokers``; ``2 load generators``; an address unchanged."""
    distinct = sorted(set(processes), key=lambda one: (server_number(one) is None, server_number(one) or 0, one))
    if len(distinct) <= 1:
        return _named(distinct[0], system) if distinct else ""
    indices = [server_number(one) for one in distinct]
    if None in indices:
        generators = all(map(system.client_role, distinct))
        return f"{len(distinct)} {'load generators' if generators else 'processes'}"
    roles = set(map(role_of, distinct))
    kind = system.title_of(roles.pop()).in_text.many if len(roles) == 1 else ""
    if len(indices) > NAMED or not kind:
        return f"{len(indices)} {kind or 'servers'}"
    return f"{kind} {', '.join(str(index) for index in indices[:-1])} and {indices[-1]}"


def _named(process: str, system: System) -> str:
    if server_number(process) is not None:
        role, _, number = process.rpartition("-")
        return f"{system.title_of(role).in_text.one} {number}"
    if system.client_role(process):
        clients, _, number = process.rpartition("-")
        return f"the generator of {clients}" if number == "0" else f"generator {int(number) + 1} of {clients}"
    return process


def _unworded(kind: str) -> Wording:
    plain = f"{{who}}: {_plain(kind)}"
    return Wording(plain, plain)


def _plain(name: str) -> str:
    """``NeighbourLost`` and ``neighbour_lost`` as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name).lower()
