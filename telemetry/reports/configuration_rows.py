"""The rows of a report: each configuration with its figures as intervals over replicates. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from telemetry.formatting import natural
from telemetry.lake.configurations import ChosenRun, grouped, label, links_in_words
from telemetry.reports import deliveries, own_figures
from telemetry.reports.measured import STARTS, Measured, Rows
from telemetry.statistics import metrics
from telemetry.statistics.intervals import LOG, SHARE, SIGNED, Scale, interval
from telemetry.statistics.metrics import STATISTICS
from telemetry.summary import truths
from telemetry.summary.schedule import measured_us
from telemetry.systems.registry import telemetry_of

MEMORY = {"rss_bytes": "RSS", "pss_bytes": "PSS", "uss_bytes": "USS", "over_idle_bytes": "over idle"}
NEGATIVE = ("over_idle_bytes",)
"""Kinds of memory that may be negative: what a server gave back since it was idle."""


def rows_of(runs: Sequence[ChosenRun], factors: Sequence[str], measured: Measured) -> list[dict[str, Any]]:
    """One for each configuration of one system, numbered from 1 as its charts number them."""
    groups = enumerate(_in_order(grouped(runs), factors), start=1)
    return [{"number": number, **_configuration(key, group, factors, measured)} for number, (key, group) in groups]


def _in_order(
    groups: Mapping[str, Sequence[ChosenRun]], factors: Sequence[str]
) -> list[tuple[str, Sequence[ChosenRun]]]:
    """Topologies as they come, and the configurations of each by the values in their labels."""
    names = list(dict.fromkeys(str(group[0].topology.get("name")) for group in groups.values()))

    def place(group: Sequence[ChosenRun]) -> tuple[int, tuple[tuple[str, int], ...]]:
        return names.index(str(group[0].topology.get("name"))), natural(label(group[0], factors))

    return sorted(groups.items(), key=lambda found: place(found[1]))


def _configuration(key: str, group: Sequence[ChosenRun], factors: Sequence[str], measured: Measured) -> dict[str, Any]:
    first = group[0]
    links = links_in_words(first.topology.get("links") or ())
    return {
        "key": key,
        "label": label(first, factors),
        "topology": {
            "name": first.topology.get("name") or first.kind,
            "kind": first.kind,
            "brokers": first.brokers,
            "links": links,
            "shaped": bool(links),
        },
        "system": first.system,
        "engine": first.engine,
        "faults": [dict(fault) for fault in first.faults],
        "settings": dict(first.settings),
        "workload": dict(first.workload),
        "n": len(group),
        "runs": [run.run for run in group],
        "response": {
            start: {name: _response(key, group, f"{column}_{name}", measured) for name in STATISTICS}
            for start, column in STARTS.items()
        },
        "outcomes": _summed(measured.outcomes[run.run] for run in group if run.run in measured.outcomes),
        **_answered(group, measured.outcomes),
        "truth": _truth(group, measured.truths),
        "memory": {
            name: _over_runs(group, measured.memory, name, SIGNED if name in NEGATIVE else LOG)
            for name in (*MEMORY, "table_bytes")
        },
        **deliveries.of_configuration(group),
        **own_figures.of_configuration(group),
        "verdicts": dict(Counter(run.verdict for run in group)),
        "verdict_reasons": sorted({reason for run in group for reason in run.reasons}),
        "published": _published(first),
    }


def _response(key: str, group: Sequence[ChosenRun], column: str, measured: Measured) -> dict[str, Any]:
    """The interval over replicates, and the same statistic of all their samples together (``pooled``)."""
    found = _over_runs(group, measured.response, column)
    return {**found, "pooled": measured.pooled.get(key, {}).get(column)}


def _over_runs(group: Sequence[ChosenRun], rows: Rows, column: str, scale: Scale = LOG) -> dict[str, Any]:
    return interval([rows.get(run.run, {}).get(column) for run in group], scale)


def _answered(group: Sequence[ChosenRun], rows: Rows) -> dict[str, Any]:
    """The share of the requests that were answered, and answers per second of measuring, over replicates."""
    known = {run: metrics.outcome_counts(row) for run, row in rows.items()}
    rates = {
        run.run: {"per_s": metrics.rate(known[run.run]["answered"], lasted)}
        for run in group
        if run.run in known and (lasted := measured_us(run.manifest)) is not None
    }
    of_group = [known.get(run.run) for run in group]
    share = interval(
        [metrics.answer_ratio(row) if row else None for row in of_group],
        SHARE,
        requests=[sum(row.values()) if row else None for row in of_group],
    )
    return {"answer_ratio": share, "per_s": _over_runs(group, rates, "per_s")}


def _truth(group: Sequence[ChosenRun], rows: Rows) -> dict[str, Any]:
    """``truths.SHARES`` and the median ``stale_ms`` over replicates, and the ``counts`` of them all."""
    known = {run.run: rows[run.run] for run in group if run.run in rows}
    counts = _summed({word: row[word] for word in truths.TRUTHS} for row in known.values())
    return {
        **{name: _share(group, known, name) for name in truths.SHARES},
        "stale_ms": _over_runs(group, known, "stale_ms"),
        "counts": counts,
    }


def _share(group: Sequence[ChosenRun], known: Rows, name: str) -> dict[str, Any]:
    rows = [known.get(run.run) for run in group]
    values = [truths.shares(row, row["existed"])[name] if row else None for row in rows]
    requests = [truths.shared_by(row, row["existed"])[name] if row else None for row in rows]
    return interval(values, SHARE, requests=requests, most=truths.MOST.get(name, 1.0))


def _summed(rows: Iterator[Mapping[str, Any]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for row in rows:
        total.update(row)
    return {"requests": total.total(), **total}


def _published(run: ChosenRun) -> dict[str, Any] | None:
    """The published configuration that is nearest, the factors in which it differs, and whether it is the same."""
    found = telemetry_of({"system": run.system}).nearest_published(run.configuration)
    if found is None:
        return None
    row, differs = found
    return {**row, "differs": differs, "same": not differs}
