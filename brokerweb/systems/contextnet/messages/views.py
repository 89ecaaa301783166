"""Pages of messages: the list of a run, and one message's way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from brokerweb.experiments.models import Run
from brokerweb.experiments.states import ENDED
from brokerweb.runpage import sequences, tables
from brokerweb.systems.contextnet.messages import of_runs, shown
from overlay.core.errors import InvalidSetting
from overlay.systems.contextnet.measuring.ledger import COLUMNS
from overlay.systems.contextnet.system import SYSTEM
from telemetry.charts.sequences import sequence
from telemetry.systems.contextnet import messages

LABELS = {
    "all": "All",
    "slowest": "Slowest",
    "stored": "Stored",
    "dropped": "Dropped",
    "late": "Late",
    "lost": "Lost",
    "traced": "Traced",
}
assert tuple(LABELS) == messages.SHOWS
DIRECTIONS = {messages.INBOUND: "From nodes", messages.OUTBOUND: "To nodes"}
ON_THE_RUN, ON_A_PAGE = 10, 50


@login_required
def index(request: HttpRequest, run_id: str) -> HttpResponse:
    """A run's messages: all, in pages, or the first few as a fragment of the run's page."""
    run, is_part = _run(run_id), "HX-Request" in request.headers
    chosen = _chosen(request)
    size = ON_THE_RUN if is_part else ON_A_PAGE
    asked = request.GET.get("page", "1")
    number = max(1, int(asked)) if asked.isascii() and asked.isdigit() and len(asked) < 7 else 1
    found = of_runs.listed(run, chosen, (number - 1) * size, size)
    page = Paginator(range(found.count), size).get_page(number)
    if page.number != number:  # past the last page
        found = of_runs.listed(run, chosen, (page.number - 1) * size, size)
    context = {
        "run": run,
        "ended": run.state in ENDED,
        "is_listed": of_runs.files(run).traces_path.is_file(),
        "rows": found.rows,
        "count": found.count,
        "page": page,
        "show": chosen.get("show", "all"),
        "chosen_of": chosen,
        "shows": [(name, label, _query(chosen, show=name)) for name, label in LABELS.items()],
        "directions": DIRECTIONS.items(),
        "outcomes": COLUMNS,
        "counted": messages.outcomes(of_runs.files(run)).items(),
        "is_filtered": any(chosen.get(name) for name in messages.FILTERS),
        "chosen": f"{urlencode(chosen)}&",
        "query": urlencode(chosen),
        "is_part": is_part,
    }
    return render(request, "contextnet/message_rows.html" if is_part else "contextnet/messages.html", context)


@login_required
def detail(request: HttpRequest, run_id: str, message: str) -> HttpResponse:
    run = _run(run_id)
    way = of_runs.way_of(run, message)
    if way is None:
        raise Http404("This run has no message with this id.")
    row = way.row
    drawn = sequence(way.passages, way.places, row["at_us"])
    graph, walk = shown.picture(way)
    context = {
        "run": run,
        "row": row,
        "direction": DIRECTIONS[row["direction"]],
        "is_inbound": way.is_inbound,
        "was_stored": way.was_stored,
        "one_in": int(SYSTEM.whole(run.configuration["settings"])["trace_one_in"]),
        "steps": shown.step_rows(way),
        "passages": shown.passage_rows(way),
        "walk": walk,
        "graph": graph,
        **sequences.drawn(
            replace(drawn, lanes=list(map(shown.title, way.places))),
            since="it was due",
            file=f"{tables.named('run', run)}-message-{row['id']}",
        ),
    }
    return render(request, "contextnet/message.html", context)


def _chosen(request: HttpRequest) -> dict[str, str]:
    """The filters of the address; what there cannot be is left out."""
    found: dict[str, str] = {}
    for name in ("show", *messages.FILTERS):
        if value := request.GET.get(name, ""):
            try:
                messages.check({name: value})
            except InvalidSetting:
                continue
            found[name] = value
    return found


def _query(chosen: Mapping[str, str], **changes: str) -> str:
    return urlencode({**chosen, **changes})


def _run(run_id: str) -> Run:
    return get_object_or_404(Run.objects.select_related("experiment").filter(system=SYSTEM.name), pk=run_id)
