"""The progress and the result of a sweep, as text and as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from telemetry.formatting import duration
from telemetry.lake.runs import Lake, read_manifest
from telemetry.sweep.batch import COLLECTING, DONE, FAILED, MEASURING, Batch, Told
from telemetry.sweep.simulation import Order
from telemetry.thresholds import Judged, Threshold, broken, judge, passed

Row = dict[str, Any]

SHOWN = ("requests", "answered", "answer_ratio", "per_s", "p50_us", "p95_us", "hops", "messages_per_query")
"""The figures of a run's summary in a row."""
FAILED_SHOWN = 20


class Progress:
    """The progress of a batch, and the remaining time at the pace so far."""

    def __init__(self, batch: Batch, began: float) -> None:
        """``began`` is a time in seconds on the same clock as ``now`` of ``words``."""
        self._batch = batch
        self._began = began
        self._seen: dict[str, int] = {}
        self._told: dict[str, Told] = {}

    def words(self, now: float) -> str:
        """``37 of 1,255 runs, about 41 min left``; once they are to stop, ``37 of 1,255 runs, stopping 2``."""
        self._told.update(self._batch.news(self._seen))
        if self._batch.is_stopping:
            states = Counter(told.state for told in self._told.values())
            stopping = states[MEASURING] + states[COLLECTING]
            return f"{states[DONE] + states[FAILED]:,} of {len(self._batch.costs):,} runs, stopping {stopping:,}"
        ended = sum(told.has_ended for told in self._told.values())
        left_s = self._left_s(now - self._began)
        left = "" if left_s is None else f", about {duration(left_s)} left"
        return f"{ended:,} of {len(self._batch.costs):,} runs{left}"

    def _left_s(self, taken_s: float) -> float | None:
        """``None`` until a run has been simulated. Cached runs take no time and are ignored."""
        costs = self._batch.costs
        shares = {run: 1.0 if told.has_ended else told.share for run, told in self._told.items()}
        kept = sum(costs[run] for run, told in self._told.items() if told.result.get("was_kept"))
        done = sum(costs[run] * share for run, share in shares.items()) - kept
        return taken_s * (sum(costs.values()) - kept - done) / done if done > 0 else None


def rows(batch: Batch, orders: Sequence[Order], demanded: Sequence[Threshold] = ()) -> list[Row]:
    """One row per run, in the order of the definition, with the thresholds evaluated for completed runs."""
    lake = Lake(batch.places.lake)
    return [_row(order, batch.told(order.run), lake, demanded) for order in orders]


def _row(order: Order, told: Told, lake: Lake, demanded: Sequence[Threshold]) -> Row:
    summary: Mapping[str, Any] = {}
    judged: list[Judged] = []
    if told.state == DONE:
        summary = read_manifest(lake.manifest_path(order.run)).get("summary") or {}
        judged = judge(demanded, summary)
    return {
        "run": order.run,
        "topology": order.configuration["topology"]["name"],
        "replicate": order.replicate,
        "seed": str(order.seed),
        "engine": order.configuration["engine"],
        "state": told.state,
        "reason": told.reason,
        **{name: summary.get(name) for name in SHOWN},
        "verdict": summary.get("verdict"),
        "thresholds": judged,
        "passed": passed(judged),
        **{name: told.result.get(name) for name in ("digest", "events", "computed_s", "was_kept")},
    }


def text(rows: Sequence[Row], out: Path, took_s: float) -> str:
    """The result of a sweep, with failures by name and seed."""
    states = Counter(row["state"] for row in rows)
    fresh = [row for row in rows if row["state"] == DONE and not row["was_kept"]]
    kept = states[DONE] - len(fresh)
    computed_s = sum(row["computed_s"] for row in fresh)
    events = sum(row["events"] for row in fresh)
    said = [f"{len(rows):,} simulated runs: " + ", ".join(f"{count:,} {state}" for state, count in states.items())]
    if kept:
        said.append(f"{kept:,} of them were cached")
    if computed_s:
        pace = f"{events:,} events, {events / computed_s:,.0f} per second of processor time"
        said.append(f"{pace}; {duration(computed_s)} of processor time in {duration(took_s)}")
    if judged := [row for row in rows if row["passed"] is not None]:
        said.append(f"{sum(row['passed'] for row in judged):,} of {len(judged):,} runs met their thresholds")
    failed = [f"failed: {row['run']}, seed {row['seed']}: {row['reason']}" for row in rows if row["state"] == FAILED]
    broke = [
        f"broken: {row['run']}, seed {row['seed']}: {broken(row['thresholds'])}" for row in judged if not row["passed"]
    ]
    for listed in (failed, broke):
        said += listed[:FAILED_SHOWN]
        if len(listed) > FAILED_SHOWN:
            said.append(f"and {len(listed) - FAILED_SHOWN} more, all in {out / 'sweep.json'}")
    if states[DONE] < len(rows):
        said.append("repeat the command to run the remaining ones")
    said.append(f"rows: {out / 'sweep.json'}")
    report = f"python -m telemetry report --runs {out / 'runs.json'} --lake {out / 'lake'} --out {out / 'report'}"
    return "\n".join([*said, *([f"compare: {report}"] if states[DONE] else [])])
