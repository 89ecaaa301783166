"""Connections that broke, what was sent again, queues, and new addresses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

from overlay.core.samples import mean
from overlay.journal.facts import Event, Tick
from overlay.systems.contextnet.measuring.facts import Facts, last
from overlay.systems.contextnet.measuring.ledger import Figures, Ledger
from overlay.systems.contextnet.measuring.trend import slope
from overlay.systems.contextnet.names import APPLICATION, node_number
from overlay.systems.contextnet.rows import Absence, Shifted

REPEATED = ("repeated", "transport_repeated")
"""Counters of nodes and of gateways."""
LEAST_TICKS = 3
"""For a slope."""


def figures(facts: Facts, ledger: Ledger) -> Figures:
    breaks, queues = list(_breaks(facts)), list(_queues(facts))
    return {
        "repeats": sum(facts.grown()[name] for name in REPEATED),
        "breaks": len(breaks),
        "detect_mean_s": mean(_detections(facts, breaks)),
        "lost_per_break": ledger.lost() / len(breaks) if breaks else None,
        "goodput_per_s": _goodput(facts),
        "app_queue_slope": slope(queues) if len(queues) >= LEAST_TICKS else None,
        "path_extra_ms": _path_extra_ms(facts),
    }


def _breaks(facts: Facts) -> Iterator[tuple[int, int]]:
    """Each node whose connection a gateway declared broken, and when. One that lingers ends only later."""
    silent = set()
    for event in facts.events:
        detail = event.detail
        if event.at_us < facts.begin_us:
            continue
        if event.name == "NodeSilent":
            silent.add(_key(event))
            yield node_number(detail["node"]), event.at_us
        elif event.name == "NodeDisconnected" and detail["reason"] == "broken" and _key(event) not in silent:
            yield node_number(detail["node"]), event.at_us


def _key(event: Event) -> tuple[str, str, int]:
    """A connection."""
    return event.process, event.detail["node"], event.detail["epoch"]


def _detections(facts: Facts, breaks: Sequence[tuple[int, int]]) -> list[float]:
    """Seconds from a node's going off to the break."""
    absences = defaultdict(list)
    for one in facts.rows[Absence]:
        absences[one.node].append(one)
    return [
        (at - one.off_us) / 1e6
        for node, at in breaks
        for one in absences.get(node, ())
        if one.off_us <= at <= one.on_us
    ]


def _goodput(facts: Facts) -> float | None:
    length_us = facts.measured_us - facts.begin_us
    if not 0 < length_us < float("inf"):
        return None
    return sum(one.is_answered and one.ended_us <= facts.measured_us for one in facts.due) / (length_us / 1e6)


def _queues(facts: Facts) -> Iterator[tuple[float, float]]:
    """Each second of measuring: records that gateways appended for applications, and that these have not handled."""
    gateways, applications = facts.gateways(), facts.of_role(f"{APPLICATION}s")
    for tick in gateways[0] if gateways else ():
        if facts.is_measured(tick.at_us):
            appended = sum(_counted(ticks, tick.at_us, "out_inbound") for ticks in gateways)
            handled = sum(_counted(ticks, tick.at_us, "handled") for ticks in applications)
            yield tick.at_us / 1e6, appended - handled


def _counted(ticks: Sequence[Tick], at_us: int, name: str) -> int:
    tick = last(ticks, at_us)
    return 0 if tick is None else tick.counters.get(name, 0)


def _path_extra_ms(facts: Facts) -> float | None:
    shifted = facts.rows[Shifted]
    answered = sorted((one.node, one.intended_us, one.rtt_us) for one in facts.due if one.is_answered)
    if not shifted or not answered:
        return None
    by_node = defaultdict(list)
    for node, intended, rtt in answered:
        by_node[node].append((intended, rtt))
    after = [next((rtt for intended, rtt in by_node[one.node] if intended >= one.shifted_us), None) for one in shifted]
    known = [rtt for rtt in after if rtt is not None]
    return (median(known) - median([rtt for *_, rtt in answered])) / 1e3 if known else None
