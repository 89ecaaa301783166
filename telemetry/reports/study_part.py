"""What a report says of the studies whose runs it has: their verdicts, values and charts. Pure.

A run belongs to a study by what it was launched for, which the list of runs says. Counterpart: ``telemetry.studies``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from telemetry.charts.charts import Chart
from telemetry.formatting import in_its_size
from telemetry.lake.configurations import ChosenRun
from telemetry.measures import figures_in
from telemetry.studies import drawing, judging, telling
from telemetry.studies.criteria import LOOKS, in_words
from telemetry.studies.judging import Result
from telemetry.studies.study import Row, Study
from telemetry.systems.registry import measures_of, row_of, studies


def results(runs: Sequence[ChosenRun]) -> list[Result]:
    """One for each study and scale that the runs were launched for, judged by the runs of the report alone."""
    known = studies()
    found: dict[tuple[str, str], list[ChosenRun]] = defaultdict(list)
    for run in runs:
        if run.study in known:
            found[run.study, run.scale].append(run)
    return [_result(known[study], scale, own) for (study, scale), own in found.items()]


def _result(study: Study, scale: str, runs: Sequence[ChosenRun]) -> Result:
    rows = [_row(run) for run in runs]
    return judging.judge(study, scale, rows, len({row.configuration for row in rows}))


def _row(run: ChosenRun) -> Row:
    figures = figures_in(run.manifest.get("summary") or {}, measures_of(run.system).values())
    configuration = {
        "system": run.system,
        "topology": {"kind": run.kind, "brokers": run.brokers},
        "settings": run.settings,
        "workload": run.workload,
        "faults": run.faults,
    }
    return row_of(configuration, run.key(), int(run.seed or 0), figures)


def documents(found: Sequence[Result]) -> list[dict[str, Any]]:
    """For the report's JSON: as ``telling.document`` has them, with title and limits."""
    return [
        {
            **telling.document(one, ""),
            "title": one.study.title,
            "says": one.study.says,
            "limits": [*one.study.tell(one), *one.study.limits, *_differs(one)],
        }
        for one in found
    ]


def _differs(result: Result) -> list[str]:
    return [result.study.quick_differs] if result.scale == "quick" else []


def shown(studies: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """``documents`` for pages: each of ``criteria`` with the ``word`` and ``look`` of its verdict, and ``groups`` of
    ``claims``, as (what they are about, rows); last those that are only shown."""
    return [{**one, "criteria": [*map(_criterion, one["criteria"])], "groups": [*_groups(one)]} for one in studies]


def _criterion(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "word": in_words(row["verdict"]), "look": LOOKS.get(row["verdict"], "unknown")}


def _groups(study: Mapping[str, Any]) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    titles = {row["id"]: row["claim"] for row in study["criteria"]}
    for of, rows in groupby(study["claims"], key=lambda row: titles.get(row["of"], "Drawn values")):
        yield of, [_in_its_size(row) for row in rows]


def _in_its_size(row: Mapping[str, Any]) -> dict[str, Any]:
    unit, values = in_its_size(row["unit"], [row[name] for name in (*judging.ENDS, "published")])
    name = row["quantity"].removesuffix(f"({row['unit']})")
    return {**row, **dict(zip((*judging.ENDS, "published"), values, strict=True)), "quantity": f"{name}({unit})"}


def charts(found: Sequence[Result]) -> list[Chart]:
    return [chart for one in found for chart in drawing.charts(one)]
