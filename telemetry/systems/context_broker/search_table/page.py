"""The page: how it was measured, what was written on it by hand, and the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

from telemetry.systems.context_broker.lab.draws import TOPOLOGIES, arms
from telemetry.systems.context_broker.search_table.draws import LIVE, VIRTUAL, Place
from telemetry.systems.context_broker.search_table.published import compare
from telemetry.systems.context_broker.search_table.summary import METRICS, Difference, Summary, figure

READING = "<!-- written by hand -->"
"""Before and behind what somebody wrote on the page, which stays when the tables are made again."""
SHOWN = {name: title for name, (title, _) in METRICS.items() if name != "datagrams"}
"""Metrics with tables on the page; the file has all."""
TIMELESS = ("success", "messages", "hops")
"""Metrics in which live is expected to be as virtual time has it; latency has the machine's share in it."""
_LABELS = {VIRTUAL: "in virtual time", LIVE: "live"}


def write_markdown(summary: Summary, compared: Sequence[Difference], path: Path, how: str) -> None:
    """Write it: ``how`` it was made, what was written on it by hand, and the tables."""
    parts = ["# Search strategies, in virtual time and live", how, f"{READING}\n\n{_written(path)}\n\n{READING}"]
    head = ("where", "policy", "there: success % / messages", "here", "")
    parts += ["## Beside the table of walk policies (systems.md 1.9)", _table(head, compare(summary))]
    if compared:
        parts += _beside(compared)
    for count in sorted({place.brokers for place in summary}):
        for held in sorted({place.holders for place in summary}):
            parts.append(f"## {held} of {count} brokers {'has' if held == 1 else 'have'} the data")
            parts += _places({place: found for place, found in summary.items() if place.brokers == count}, held)
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _places(summary: Summary, held: int) -> Iterator[str]:
    """The tables of one number of brokers and of holders."""
    found = {(place.arm, place.topology, place.engine): place for place in summary if place.holders == held}
    for metric, title in SHOWN.items():
        for engine, label in _LABELS.items():
            topologies = [name for name in TOPOLOGIES if any(key[1:] == (name, engine) for key in found)]
            names = [arm for arm in arms() if any((arm, name, engine) in found for name in topologies)]
            rows = (
                (arm, *(_cell(summary, found.get((arm, name, engine)), metric) for name in topologies)) for arm in names
            )
            if names:
                yield f"{title[0].upper()}{title[1:]}, {label}:"
                yield _table(("strategy", *topologies), rows)


def _cell(summary: Summary, place: Place | None, metric: str) -> str:
    return "" if place is None else figure(summary[place][metric])


def _beside(compared: Sequence[Difference]) -> Iterator[str]:
    yield "## Live beside virtual time"
    yield (
        "The same topologies, places and askers; differences are paired by topology. A place agrees where the interval "
        "of its mean difference has 0 in it, which one in twenty has not by chance alone. Latency live has in it what "
        "the machine takes to schedule a process, to send and to receive, at each hop; virtual time has links only."
    )
    yield _table(("metric", "places", "agree", "live / virtual, median", "least", "most"), _agreement(compared))
    rows = [_line(each) for each in compared if each.metric in TIMELESS and not each.agrees]
    if rows:
        yield "Where success, messages or hops differ:"
        yield _table(("where", "strategy", "metric", "virtual", "live", "live − virtual"), rows)


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


def _written(path: Path) -> str:
    """What stands on the page by hand."""
    parts = path.read_text(encoding="utf-8").split(READING) if path.exists() else []
    return parts[1].strip() if len(parts) == 3 else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---", *("---:" for _ in head[1:])], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
