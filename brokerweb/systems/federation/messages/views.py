"""Pages of messages: the list of a run, and one message's way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from brokerweb.brokers.overlay import with_resting_links
from brokerweb.experiments.models import Run
from brokerweb.experiments.states import ENDED
from brokerweb.runpage import message_pages, sequences, tables, ways
from brokerweb.systems.federation.messages import of_runs, shown
from brokerweb.topologies import pictures
from overlay.systems.federation.names import broker_name
from overlay.systems.federation.system import SYSTEM
from overlay.systems.federation.workload import ONCE
from telemetry.charts.sequences import participants, sequence
from telemetry.systems.federation import messages

LABELS = {
    "all": "All",
    "slowest": "Slowest",
    "unsatisfied": "Unsatisfied",
    "lost": "Lost",
    "in_window": "Missed around a fault",
    "cached": "From a cache",
    "traced": "Traced",
}
assert tuple(LABELS) == messages.SHOWS
KINDS = {messages.SUBSCRIPTION: "Subscriptions", messages.QUERY: "QUERYs", messages.NOTIFICATION: "Notifications"}
assert set(KINDS) == set(messages.KINDS)
UNANSWERED = "Unanswered"
"""Of QUERYs, for unsatisfied."""
NOT_OF_QUERIES = ("lost", "in_window", "cached")
"""Labels."""


class Words(NamedTuple):
    """What the list says of one kind of message."""

    one: str
    at: str
    time: str
    delivered: str
    none_unsatisfied: str


WORDS = {
    messages.SUBSCRIPTION: Words("Subscription", "Due", "T_S", "Delivered", "Every subscription was satisfied."),
    messages.QUERY: Words("QUERY", "Due", "Answered after", "Notifications", "Every QUERY was answered."),
    messages.NOTIFICATION: Words(
        "Notification", "Published", "Delivered after", "Delivered", "Every notification was delivered."
    ),
}
TITLES = {"scope": "Scope", "entity": "Entity", "provider": "Provider", "client": "Client"}
DELIVERIES = 100


@login_required
def index(request: HttpRequest, run_id: str) -> HttpResponse:
    """A run's messages: all, in pages, or the first few as a fragment of the run's page."""
    run, is_part = _run(run_id), message_pages.is_part(request)
    chosen = _chosen(request, run)
    found, page = message_pages.page_of(request, lambda offset, limit: of_runs.listed(run, chosen, offset, limit))
    is_query = chosen["kind"] == messages.QUERY
    values = {} if is_part else messages.values(of_runs.files(run))
    context = {
        "run": run,
        "ended": run.state in ENDED,
        "is_listed": of_runs.files(run).traces_path.is_file(),
        "rows": found.rows,
        "count": found.count,
        "page": page,
        "kind": chosen["kind"],
        "show": chosen["show"],
        "is_query": is_query,
        "is_asked": chosen["kind"] != messages.NOTIFICATION,
        "words": WORDS[chosen["kind"]],
        "kinds": [
            (name, label, _query(chosen, kind=name))
            for name, label in KINDS.items()
            if name != messages.QUERY or is_query or _share(run)
        ],
        "shows": [
            (name, UNANSWERED if is_query and name == "unsatisfied" else label, _query(chosen, show=name))
            for name, label in LABELS.items()
            if not (is_query and name in NOT_OF_QUERIES)
        ],
        "filters": [(name, title, values.get(name, ()), chosen.get(name, "")) for name, title in TITLES.items()],
        "is_filtered": any(chosen.get(name) for name in TITLES),
        "chosen": f"{urlencode(chosen)}&",
        "query": urlencode(chosen),
        "is_part": is_part,
    }
    return render(request, "federation/message_rows.html" if is_part else "federation/messages.html", context)


@login_required
def detail(request: HttpRequest, run_id: str, message: str) -> HttpResponse:
    run = _run(run_id)
    way = of_runs.way_of(run, message)
    if way is None:
        raise Http404("This run has no message with this id.")
    row, sent = way.row, way.messages
    deliveries = way.records.deliveries
    context = {
        "run": run,
        "row": row,
        "is_of_subscription": way.is_of_subscription,
        "is_query": row["kind"] == messages.QUERY,
        "scopes": way.scopes,
        "asked": way.asked,
        "one_in": int(SYSTEM.whole(run.configuration["settings"])["trace_one_in"]),
        "steps": [shown.step_row(one, row["at_us"]) for one in way.steps],
        "has_waits": any(one.waited_us for one in way.steps),
        "passages": ways.passage_rows(way.passages),
        "whole": "None: it stayed at one broker.",
        "legend": shown.legend(way),
        "deliveries": [
            {"of": one, "number": str(one.number), "since_us": one.received_us - row["at_us"]}
            for one in deliveries[:DELIVERIES]
        ],
        "further": max(0, len(deliveries) - DELIVERIES),
        "walk": shown.walk(way),
        "graph": with_resting_links(_picture(run.configuration["topology"]), run.configuration),
        **sequences.drawn(
            sequence(sent, participants(sent), row["at_us"]),
            since="it was published" if row["kind"] == messages.NOTIFICATION else "it was due",
            file=f"{tables.named('run', run)}-message-{row['id']}",
        ),
    }
    return render(request, "federation/message.html", context)


def _picture(topology: Mapping[str, Any]) -> dict[str, Any]:
    """With the names of brokers that have no other, as in the tables: ``b0``."""
    drawn = pictures.of_document(topology)
    for node in drawn["nodes"]:
        if node["name"] == str(node["index"]):
            node["name"] = broker_name(node["index"])
    return drawn


def _chosen(request: HttpRequest, run: Run) -> dict[str, str]:
    """The filters of the address; unknown values are left out."""
    asked = request.GET
    kind, show = asked.get("kind", ""), asked.get("show", "")
    if kind not in KINDS:
        is_once = run.configuration["workload"].get("kind", ONCE) == ONCE
        all_asked = messages.QUERY if _share(run) == 1 else messages.SUBSCRIPTION
        kind = all_asked if is_once else messages.NOTIFICATION
    others = {name: asked[name] for name in TITLES if asked.get(name)}
    return {"kind": kind, "show": show if show in LABELS else "all", **others}


def _share(run: Run) -> float:
    """Of queries that go as QUERY."""
    return float(run.configuration["workload"].get("query_share", 0))


def _query(chosen: dict[str, str], **changes: str) -> str:
    return urlencode({**chosen, **changes})


def _run(run_id: str) -> Run:
    return get_object_or_404(Run.objects.select_related("experiment").filter(system=SYSTEM.name), pk=run_id)
