"""The page: how it was measured, what was written on it by hand, and the tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from telemetry.systems.context_broker.lab.draws import TOPOLOGIES, arms
from telemetry.systems.context_broker.search_table.draws import LIVE, VIRTUAL, Place
from telemetry.systems.context_broker.search_table.published import compare
from telemetry.systems.context_broker.search_table.summary import METRICS, Difference, Summary, figure
from telemetry.templating import render, written_by_hand

SHOWN = {name: title for name, (title, _) in METRICS.items() if name != "datagrams"}
"""Metrics with tables on the page; the file has all."""
TIMELESS = ("success", "messages", "hops")
"""Metrics in which live is expected to be as virtual time has it; latency has the machine's share in it."""
_LABELS = {VIRTUAL: "in virtual time", LIVE: "live"}


def write_markdown(summary: Summary, compared: Sequence[Difference], path: Path, how: str) -> None:
    """Write it: ``how`` it was made, what was written on it by hand, and the tables."""
    text = render(
        "systems/context_broker/search_table/page.md",
        how=how,
        written=written_by_hand(path),
        walks=compare(summary),
        compared=compared,
        agreement=list(_agreement(compared)),
        differing=[_line(each) for each in compared if each.metric in TIMELESS and not each.agrees],
        places=list(_places(summary)),
    )
    path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def _places(summary: Summary) -> Iterator[tuple[int, int, list[Any]]]:
    """Of each number of holders among so many brokers: both, and the tables."""
    for brokers in sorted({place.brokers for place in summary}):
        for held in sorted({place.holders for place in summary}):
            yield held, brokers, list(_tables({at: summary[at] for at in summary if at.brokers == brokers}, held))


def _tables(summary: Summary, held: int) -> Iterator[tuple[str, str, list[str], list[list[str]]]]:
    """Title, engine, topologies and rows of each."""
    found = {(place.arm, place.topology, place.engine): place for place in summary if place.holders == held}
    for metric, title in SHOWN.items():
        for engine, label in _LABELS.items():
            topologies = [name for name in TOPOLOGIES if any(key[1:] == (name, engine) for key in found)]
            names = [arm for arm in arms() if any((arm, name, engine) in found for name in topologies)]
            rows = [
                [arm, *(_cell(summary, found.get((arm, name, engine)), metric) for name in topologies)] for arm in names
            ]
            if rows:
                yield title, label, topologies, rows


def _cell(summary: Summary, place: Place | None, metric: str) -> str:
    return "" if place is None else figure(summary[place][metric])


def _agreement(compared: Sequence[Difference]) -> Iterator[tuple[str, ...]]:
    for metric in SHOWN:
        found = [each for each in compared if each.metric == metric]
        ratios = [each.live / each.virtual for each in found if each.virtual] or [1.0]
        agree = sum(each.agrees for each in found)
        ends = (f"{value:.3g}" for value in (median(ratios), min(ratios), max(ratios)))
        yield (metric, str(len(found)), str(agree), *ends)


def _line(each: Difference) -> tuple[str, ...]:
    place = each.place
    where = f"{place.topology}, {place.holders} of {place.brokers}"
    return where, place.arm, each.metric, f"{each.virtual:.3g}", f"{each.live:.3g}", figure(each.found)
