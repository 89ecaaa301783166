"""The report ``comparison``: what Spark computed per run and per configuration becomes tables and charts. Pure.

Counterpart: ``telemetry.spark.pipeline`` computes ``Measured``; ``telemetry.reports.html`` lays the result out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from overlay.core.engines import ENGINES, SIMULATED
from overlay.core.service_times import missing_costs
from overlay.systems.registry import servers_title
from telemetry.charts.charts import Chart, axis, chart, estimate, point, series
from telemetry.formatting import KB, natural
from telemetry.lake.configurations import ChosenRun, differing, grouped, label, links_in_words
from telemetry.reports import deliveries, own_figures, study_part
from telemetry.reports.series import of_engine, role
from telemetry.statistics import metrics
from telemetry.statistics.intervals import LOG, SHARE, SIGNED, Scale, interval
from telemetry.statistics.metrics import STATISTICS
from telemetry.summary import truths
from telemetry.summary.schedule import measured_us
from telemetry.systems.registry import telemetry_of

STARTS = {"from_intended": "response_us", "from_sent": "response_from_sent_us"}
"""From which instant a response time runs, and Spark's column of it."""
MEMORY = {"rss_bytes": "RSS", "pss_bytes": "PSS", "uss_bytes": "USS", "over_idle_bytes": "over idle"}
NEGATIVE = ("over_idle_bytes",)
"""Kinds of memory that may be negative: what a broker gave back since it was idle."""
MOST_NAMED = 5
"""Runs that a note names."""
CURVE = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999)
"""The shares of requests at which the percentile chart is drawn."""

Rows = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Measured:
    """What Spark computed. Keys are runs, or for ``pooled`` and ``curves`` configurations.

    ``response`` and ``pooled`` rows hold ``answers`` and ``<column>_<statistic>`` for the columns of ``STARTS``;
    ``curves`` rows ``curve``, one value for each of ``CURVE``; ``outcomes`` a count by outcome; ``truths`` a count by
    truth, ``existed`` and the median ``stale_ms``; ``memory`` bytes by name, the mean over a run's brokers.
    """

    response: Rows
    pooled: Rows
    curves: Rows
    outcomes: Rows
    truths: Rows
    memory: Rows


def compare(
    runs: Sequence[ChosenRun],
    measured: Measured,
    title: str,
    provenance: Mapping[str, Any],
    repeated: Sequence[ChosenRun] = (),
) -> dict[str, Any]:
    """The report as JSON: ``configurations`` (one row each), ``charts``, ``studies``, ``notes``, ``provenance``.

    ``repeated`` were chosen, too, and are left out, as ``configurations.without_repeats`` has it.
    """
    factors, studied = differing(runs), study_part.results(runs)
    groups = _in_order(grouped(runs), factors)
    rows = [
        {"number": number, **_configuration(key, group, factors, measured)}
        for number, (key, group) in enumerate(groups, start=1)
    ]
    return {
        "kind": "comparison",
        "title": title,
        "differing": factors,
        "configurations": rows,
        "engines": sorted({run.engine for run in runs}),
        "charts": [
            *study_part.charts(studied),
            *_drawn(rows, measured),
            *own_figures.charts(rows),
            *deliveries.charts(rows),
            *_figures(rows),
        ],
        "studies": study_part.documents(studied),
        "notes": [*_notes(runs, rows), *_notes_on_simulated(runs, repeated)],
        "provenance": {**provenance, "runs": [_provenance(run, factors) for run in runs]},
    }


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


def _figures(rows: Sequence[Mapping[str, Any]]) -> Iterator[Chart]:
    """What each system draws of its own configurations, as its paper does."""
    for system in dict.fromkeys(row["system"] for row in rows):
        yield from telemetry_of({"system": system}).figures([row for row in rows if row["system"] == system])


def _provenance(run: ChosenRun, factors: Sequence[str]) -> dict[str, Any]:
    kept = ("started", "code", "python", "libraries", "machine", "simulated")
    return {
        "run": run.run,
        "configuration": label(run, factors),
        "replicate": run.replicate,
        "seed": run.seed,
        "engine": run.engine,
        "verdict": run.verdict,
        "verdict_reasons": list(run.reasons),
        "changed": run.changed,
        "links": links_in_words(run.topology.get("links") or ()),
        **{name: run.manifest.get(name) for name in kept},
    }


def _drawn(rows: Sequence[Mapping[str, Any]], measured: Measured) -> list[Chart]:
    """The charts of all runs: of requests and of memory, where there are any."""
    has_requests = any(row["outcomes"]["requests"] for row in rows)
    return [one for one in _charts(rows, measured) if (one["series"] if one["id"] == "memory" else has_requests)]


def has_memory(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether memory is known of any configuration: of simulated ones it mostly is not."""
    return any(one["n"] for row in rows for one in row["memory"].values())


def _charts(rows: Sequence[Mapping[str, Any]], measured: Measured) -> list[Chart]:
    categories = [row["label"] for row in rows]
    of = ", simulated" if all(row["engine"] == SIMULATED for row in rows) else ""
    configurations = axis("Configuration", categories=categories)
    servers = servers_title(row["system"] for row in rows)
    memory = servers.fill("Memory of {a_server}")
    return [
        chart(
            "response-time",
            f"Mean response time against configuration{of}",
            configurations,
            axis("Mean response time", "µs", log=True),
            [*_by_topology(rows), _published_points(rows)],
            ["From the intended send time; answered requests only. Faint marks are replicates."],
        ),
        chart(
            "percentiles",
            f"Percentiles of response time{of}",
            axis("Share of requests", "%"),
            axis("Response time", "µs", log=True),
            [_curve(row, measured) for row in rows],
            [
                "All replicates of a configuration together; each percentile is exact, from the samples.",
                "Faint marks at 50, 95 and 99 % are the replicates' own percentiles, whiskers their 95 % interval.",
            ],
        ),
        chart(
            "memory",
            f"{memory} against configuration{of}",
            configurations,
            axis(memory, "kB", zero=True),
            [
                of_engine(rows, engine, word, "memory", name, scale=1 / KB, metric=name)
                for engine in ENGINES
                for name, word in MEMORY.items()
            ],
            [
                f"Mean over the {servers.in_text.many} of a run and its seconds of measuring. PSS includes a share of "
                "memory common to several processes, USS excludes it; over idle is USS minus its value before the "
                "first client.",
            ],
        ),
    ]


def _by_topology(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for x, row in enumerate(rows):
        if not row["outcomes"]["requests"]:
            continue
        words = f"{row['topology']['name']}, shaped links" if row["topology"]["shaped"] else row["topology"]["name"]
        words += ", simulated" if row["engine"] == SIMULATED else ""
        points = found.setdefault((words, role(row), row["topology"]["kind"]), [])
        points.append(estimate(x, row["response"]["from_intended"]["mean"]))
    return [series(name, role, kind, points, line=False) for (name, role, kind), points in found.items()]


def _published_points(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    same = [(x, row["published"]) for x, row in enumerate(rows) if row["published"] and row["published"]["same"]]
    points = [point(x, published["response_us"], note=published["note"]) for x, published in same]
    places = dict.fromkeys(telemetry_of({"system": rows[x]["system"]}).published_in for x, _ in same)
    return series(", ".join(["published", *filter(None, places)]), "published", "", points, line=False)


def _curve(row: Mapping[str, Any], measured: Measured) -> dict[str, Any]:
    values = measured.curves.get(row["key"], {}).get("curve") or []
    points = [
        point(share * 100, y, n=row["n"], **_replicates(row, share)) for share, y in zip(CURVE, values, strict=False)
    ]
    return series(row["label"], role(row), row["topology"]["kind"], points)


def _replicates(row: Mapping[str, Any], share: float) -> dict[str, Any]:
    """The replicates' own percentile at a share, where it is computed of each."""
    found = row["response"]["from_intended"].get(f"p{share * 100:g}", {})
    return {name: found[name] for name in ("low", "high", "replicates") if name in found}


def _notes(runs: Sequence[ChosenRun], rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield (
        "A value is the mean of a statistic over replicates, with its 95 % interval by Student's t; one replicate has "
        "no interval. Times and sizes have the geometric mean, with t on the logarithm; memory over idle, which may be "
        "negative, the mean; shares the mean, with Wilson's score. Pooled is the statistic of all samples together."
    )
    suspect = [run.run for run in runs if run.verdict == "suspect"]
    if suspect:
        yield f"{len(suspect)} of {len(runs)} runs are suspect; they are included and marked."
    changed = [f"{run.run} ({run.changed})" for run in runs if run.changed]
    if changed:
        yield (
            f"{len(changed)} of {len(runs)} runs are what-if runs, which repeat another run with one change; they "
            f"were selected individually: {_some(changed)}."
        )
    single = [row["label"] for row in rows if row["n"] == 1]
    if single:
        yield f"n = 1, so the spread is unknown: {'; '.join(single)}."
    if any(row["topology"]["shaped"] for row in rows):
        yield "“Shaped” links have a delay, jitter or loss added in user space."
    if any(row["published"] and not row["published"]["same"] for row in rows):
        yield "If no published row has the same workload, the nearest one is shown with its differences."


def _notes_on_simulated(runs: Sequence[ChosenRun], repeated: Sequence[ChosenRun]) -> Iterator[str]:
    simulated = [run for run in runs if run.is_simulated]
    if simulated:
        servers = servers_title(run.manifest.get("system", "") for run in simulated).in_text.many
        yield (
            f"Simulated configurations are the same {servers} and clients in virtual time. Service times, memory and "
            "CPU time are modelled, calibrated with live runs unless service times are “none”. Simulated runs are "
            "compared with live ones, but are never replicates of them."
        )
    for system in sorted({run.manifest.get("system", "") for run in simulated}):
        models = [run.manifest.get("service_times") or {} for run in simulated if run.manifest.get("system") == system]
        missing = dict.fromkeys(one for model in models for one in model.get("unmeasured", ()))
        if missing:
            yield f"{system}: {missing_costs(missing)}"
    if repeated:
        yield (
            f"{len(repeated)} simulated runs are excluded, because a later run has the same configuration and "
            f"seed and is not a replicate: {_some([run.run for run in repeated])}."
        )
    mixed = [group for group in grouped(simulated).values() if len({_simulated_by(run) for run in group}) > 1]
    if mixed:
        yield (
            f"In {len(mixed)} configurations, replicates were simulated with different code or service times, which "
            "increases their spread."
        )


def _some(names: Sequence[str]) -> str:
    return f"{', '.join(names[:MOST_NAMED])}{' …' if len(names) > MOST_NAMED else ''}"


def _simulated_by(run: ChosenRun) -> str:
    return json.dumps([run.manifest.get(name) for name in ("simulator", "service_times")], sort_keys=True)
