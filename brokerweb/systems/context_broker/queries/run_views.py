"""Pages of traced queries: the list of a run, and one query's walk."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from brokerweb.experiments.models import Run
from brokerweb.experiments.states import ENDED
from brokerweb.runpage import tables
from brokerweb.systems.context_broker.queries import of_runs, timeline
from brokerweb.topologies import pictures
from telemetry.systems.context_broker.endings import ENDINGS

FAILED = ("not_found", "refused", "lost")
VIEWS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "slowest": ("Slowest", ("answered",), "slowest"),
    "failed": ("Failed", FAILED, "latest"),
    "longest": ("Most hops", (), "longest"),
    "latest": ("Latest", (), "latest"),
}
"""Label, outcomes and order by name in the URL."""
ON_THE_RUN = 10
ON_A_PAGE = 50


@login_required
def index(request: HttpRequest, run_id: str) -> HttpResponse:
    """A run's queries: all on a page, or the first few as a fragment of the run's page."""
    run = get_object_or_404(Run.objects.select_related("experiment"), pk=run_id)
    show = request.GET.get("show", "slowest")
    _, outcomes, order = VIEWS.get(show, VIEWS["slowest"])
    is_part = "HX-Request" in request.headers
    size = ON_THE_RUN if is_part else ON_A_PAGE
    asked = request.GET.get("page", "1")
    number = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 7 else 1
    found = of_runs.listing(run, outcomes, order, (max(number, 1) - 1) * size, size)
    page = Paginator(range(found.count), size).get_page(number)
    if page.number != number:  # past the last page
        found = of_runs.listing(run, outcomes, order, (page.number - 1) * size, size)
    context = {
        "run": run,
        "ended": run.state in ENDED,
        "found": found,
        "page": page,
        "show": show if show in VIEWS else "slowest",
        "chosen": f"{urlencode({'outcome': ','.join(outcomes), 'order': order})}&",
        "views": [(name, label) for name, (label, _, _) in VIEWS.items()],
        "one_in": of_runs.traced_one_in(run),
        "is_part": is_part,
        "endings": ENDINGS.values(),
    }
    return render(request, "context_broker/query_rows.html" if is_part else "context_broker/queries.html", context)


@login_required
def detail(request: HttpRequest, run_id: str, trace: str) -> HttpResponse:
    run = get_object_or_404(Run.objects.select_related("experiment"), pk=run_id)
    found = of_runs.drawn(run, trace)
    if found is None:
        raise Http404("This run has no trace with this id.")
    query, sequence = found
    client = query["client"]
    context = {
        **timeline.shown(query, sequence, tables.named("run", run)),
        "run": run,
        "before": {name: -client[f"{name}_at_ms"] for name in ("intended", "sent")} if client else {},
        "graph": pictures.of_document(run.configuration["topology"]),
    }
    return render(request, "context_broker/query.html", context)
