"""Pages of publications: the list of a run, and one publication's way."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from brokerweb.experiments.models import Run
from brokerweb.experiments.states import ENDED
from brokerweb.runpage import message_pages, sequences, tables, ways
from brokerweb.systems.silbops.messages import of_runs, shown
from brokerweb.topologies import pictures
from overlay.systems.silbops.system import SYSTEM
from telemetry.charts.sequences import sequence
from telemetry.systems.silbops import messages

LABELS = {
    "all": "All",
    "slowest": "Slowest",
    "undelivered": "Undelivered",
    "kept": "Kept",
    "lost": "Lost",
    "excused": "Excused",
    "spurious": "Spurious",
    "refused": "Refused",
    "traced": "Traced",
}
assert tuple(LABELS) == messages.SHOWS
DELIVERIES, WITHOUT = 100, 100
"""Rows of tables."""


@login_required
def index(request: HttpRequest, run_id: str) -> HttpResponse:
    """A run's publications."""
    run, is_part = _run(run_id), message_pages.is_part(request)
    chosen = _chosen(request)
    found, page = message_pages.page_of(request, lambda offset, limit: of_runs.listed(run, chosen, offset, limit))
    files = of_runs.files(run)
    context = {
        "run": run,
        "ended": run.state in ENDED,
        "is_listed": files.traces_path.is_file(),
        "rows": found.rows,
        "count": found.count,
        "page": page,
        "show": chosen["show"],
        "shows": [(name, label, urlencode({**chosen, "show": name})) for name, label in LABELS.items()],
        "publishers": () if is_part else messages.publishers(files),
        "filters": {name: chosen.get(name, "") for name in messages.FILTERS},
        "is_filtered": len(chosen) > 1,
        "chosen": f"{urlencode(chosen)}&",
        "query": urlencode(chosen),
        "is_part": is_part,
    }
    return render(request, "silbops/message_rows.html" if is_part else "silbops/messages.html", context)


@login_required
def detail(request: HttpRequest, run_id: str, publication: str) -> HttpResponse:
    run = _run(run_id)
    way = of_runs.way_of(run, publication)
    if way is None:
        raise Http404("This run has no publication with this id.")
    row, sent, records = way.row, list(way.messages), way.records
    without = of_runs.without(run, way)
    context = {
        "run": run,
        "row": row,
        "records": records,
        "one_in": int(SYSTEM.whole(run.configuration["settings"])["trace_one_in"]),
        "steps": [shown.step_row(one, row["at_us"]) for one in way.steps],
        "passages": ways.passage_rows(way.passages),
        "whole": "None: it stayed at one broker.",
        "legend": shown.LEGEND,
        "deliveries": [
            {"of": one, "since_us": one.received_us - row["at_us"]} for one in records.deliveries[:DELIVERIES]
        ],
        "further": max(0, len(records.deliveries) - DELIVERIES),
        "without": without[:WITHOUT] if without else (),
        "without_all": None if without is None else len(without),
        "without_further": max(0, len(without or ()) - WITHOUT),
        "walk": shown.walk(way),
        "graph": pictures.of_document(run.configuration["topology"]),
        **sequences.drawn(
            sequence(sent, shown.lanes(sent), row["at_us"]),
            since="it was due",
            file=f"{tables.named('run', run)}-publication-{row['id']}",
        ),
    }
    return render(request, "silbops/message.html", context)


def _chosen(request: HttpRequest) -> dict[str, str]:
    """The filters of the address; an unknown ``show`` is left out."""
    show = request.GET.get("show", "")
    filters = {name: value for name in messages.FILTERS if (value := request.GET.get(name, "").strip())}
    return {"show": show if show in LABELS else "all", **filters}


def _run(run_id: str) -> Run:
    return get_object_or_404(Run.objects.select_related("experiment").filter(system=SYSTEM.name), pk=run_id)
