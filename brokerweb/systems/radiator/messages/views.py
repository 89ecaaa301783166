"""Pages of messages: the list of a run, and one message's complete way."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from brokerweb.experiments.models import Run
from brokerweb.experiments.states import ENDED
from brokerweb.runpage import message_pages, sequences
from brokerweb.systems.radiator.messages import of_runs, shown
from brokerweb.systems.radiator.messages.paging import number_in, paged, with_parameters
from overlay.systems.radiator.system import SYSTEM
from telemetry.lake.runs import Lake
from telemetry.systems.radiator import messages, way_files
from telemetry.systems.radiator.way_sequence import sequence_of
from telemetry.systems.radiator.ways import Chain, Propagation, Way

LABELS = {
    "all": "All",
    "failed": "Failed or late",
    "retained": "Retained or dropped",
    "refused": "Not accepted",
    "slowest": "Slowest",
}
assert tuple(LABELS) == messages.VIEWS
GROUPS, PROPAGATIONS, CHAINS, HOPS, RECIPIENTS = 20, 10, 5, 100, 50
"""Rows per page of the tables of one message."""


@login_required
def index(request: HttpRequest, run_id: str) -> HttpResponse:
    """A run's messages: all, in pages, or the first few as a fragment of the run's page."""
    run, is_part = _run(run_id), message_pages.is_part(request)
    view = request.GET.get("show", "all")
    view = view if view in LABELS else "all"
    found, page = message_pages.page_of(request, lambda offset, limit: of_runs.listed(run, view, offset, limit))
    context = {
        "run": run,
        "ended": run.state in ENDED,
        "is_listed": of_runs.files(run).traces_path.is_file(),
        "rows": found.rows,
        "count": found.count,
        "page": page,
        "view": view,
        "chosen": f"show={view}&",
        "views": LABELS.items(),
        "late": messages.LATE,
        "is_part": is_part,
    }
    return render(request, "radiator/message_rows.html" if is_part else "radiator/messages.html", context)


@login_required
def detail(request: HttpRequest, run_id: str, message: str) -> HttpResponse:
    """One message; ``?propagation=`` and ``?chain=`` choose what is drawn."""
    run = _run(run_id)
    way = way_files.find(of_runs.files(run), Lake(settings.LAKE), message)
    if way is None:
        raise Http404("This run has no message with this id.")
    one_in = int(SYSTEM.whole(run.configuration["settings"])["trace_one_in"])
    context: dict[str, Any] = {
        "run": run,
        "way": way,
        "row": way.row,
        "instants": shown.instants(way),
        "one_in": one_in,
        "groups": paged(request, way.groups, GROUPS, "queues", "Queues"),
        "undelivered": paged(request, way.undelivered, RECIPIENTS, "undelivered", "Recipients without it"),
        **_of_propagations(request, way),
    }
    context["missing"] = [shown.undelivered_row(one) for one in context["undelivered"].rows]
    context["states"] = [shown.group_row(one, way) for one in context["groups"].rows]
    return render(request, "radiator/message.html", context)


def _of_propagations(request: HttpRequest, way: Way) -> dict[str, Any]:
    """All in a table; one with its chains, of which one is drawn as a sequence."""
    found = paged(request, way.propagations, PROPAGATIONS, "propagations", "Propagations")
    context = {"propagations": found, "emitted": [shown.propagation_row(one, way) for one in found.rows]}
    chosen = _propagation(way, number_in(request, "propagation"))
    if chosen is None:
        return context
    chains = paged(request, chosen.chains, CHAINS, "chains", "Chains")
    direct = paged(request, chosen.direct, RECIPIENTS, "direct", "Direct pushes")
    others, more = shown.together(chosen, way)
    return {
        **context,
        "chosen": chosen,
        "others": others,
        "others_left": more,
        "chains": chains,
        "drawn": [{"chain": one, "hops": shown.drawn(one), "address": _of_chain(request, one)} for one in chains.rows],
        "untraced": chosen.chain_count - len(chosen.chains),
        "direct": direct,
        "directly": [_direct(way, chosen, client) for client in direct.rows],
        **_of_chosen_chain(request, way, chosen),
    }


def _of_chosen_chain(request: HttpRequest, way: Way, chosen: Propagation) -> dict[str, Any]:
    chain = _chain(chosen, number_in(request, "chain"))
    if chain is None:
        return {}
    file = f"message-{way.row['id']}-{chosen.number}-{chain.number}"
    hops = paged(request, chain.hops, HOPS, "hops", "Hops")
    return {
        "chain": chain,
        "hops": hops,
        "hop_rows": [shown.hop_row(one, chain, way.row["due_us"]) for one in hops.rows],
        "chain_name": f"{chain.number} of propagation {chosen.number}",
        **sequences.drawn(sequence_of(chain), since="the emission", file=file),
    }


def _direct(way: Way, chosen: Propagation, client: int) -> dict[str, Any]:
    arrival = way.records.arrivals.get(client)
    state = "delivered" if arrival else way.records.missed.get(client, ("in flight", ""))[0]
    took = None if arrival is None else arrival.at_us - chosen.emitted_us
    return {"client": client, "state": shown.state_words(state), "is_delivered": bool(arrival), "took_us": took}


def _of_chain(request: HttpRequest, chain: Chain) -> str:
    return f"{with_parameters(request, chain=chain.number, hops=None)}#chain"


def _propagation(way: Way, number: int | None) -> Propagation | None:
    """The one that was asked for, or the first with trouble, or the first."""
    asked = next((one for one in way.propagations if one.number == number), None)
    troubled = next((one for one in way.propagations if one.is_troubled), None)
    return asked or troubled or next(iter(way.propagations), None)


def _chain(propagation: Propagation, number: int | None) -> Chain | None:
    asked = next((one for one in propagation.chains if one.number == number), None)
    return asked or next(iter(propagation.chains), None)


def _run(run_id: str) -> Run:
    return get_object_or_404(Run.objects.select_related("experiment").filter(system=SYSTEM.name), pk=run_id)
