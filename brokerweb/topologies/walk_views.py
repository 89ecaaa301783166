"""Computed fragments of a topology's page: walk length and suggested links."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from brokerweb.kit.errors import NotPossible
from brokerweb.topologies import services, studio
from brokerweb.topologies.models import Topology
from overlay.core.errors import InvalidSetting
from overlay.topologies import Graph, advice

AT_ONCE = 150
"""Number of brokers up to which suggestions are computed on opening the page (milliseconds); beyond, on demand."""
LINKS, GOAL = 3, "walk"


def choices(topology: Topology) -> dict[str, Any]:
    """Options of the forms."""
    return {
        "policies": studio.walk_choices(),
        "link_counts": range(1, advice.MOST_LINKS + 1),
        "advised": LINKS,
        "largest": advice.LARGEST,
        "at_once": topology.brokers <= AT_ONCE,
    }


@login_required
def walks(request: HttpRequest, topology_id: str) -> HttpResponse:
    """Estimated hops of a walk and structural measures, within half a second for any topology."""
    topology = get_object_or_404(Topology, pk=topology_id)
    graph = services.to_graph(topology)
    try:
        context = studio.examine(graph, request.GET.get("policy") or studio.usual_policy())
    except InvalidSetting as error:
        context = {"problem": error}
    return render(request, "topologies/walked.html", {"names": _called(graph), **context})


@login_required
def advised(request: HttpRequest, topology_id: str) -> HttpResponse:
    """Suggested links with their gain; nothing is changed."""
    topology = get_object_or_404(Topology, pk=topology_id)
    k, goal = request.GET.get("k", str(LINKS)), request.GET.get("goal", GOAL)
    graph = services.to_graph(topology)
    context: dict[str, Any] = {"topology": topology, "goal": goal}
    try:
        if topology.brokers > advice.LARGEST.get(goal, topology.brokers):
            context["largest"] = advice.LARGEST[goal]
        else:
            found = studio.advise(graph, int(k) if k.isascii() and k.isdecimal() and len(k) < 3 else 0, goal)
            context |= _told(found["links"], _called(graph))
    except (InvalidSetting, NotPossible) as error:
        context["problem"] = error
    return render(request, "topologies/advised.html", context)


def _called(graph: Graph) -> list[str]:
    return list(graph.names or map(str, range(graph.brokers)))


def _told(links: list[dict[str, Any]], names: list[str]) -> dict[str, Any]:
    """Links with broker names, and the total gain."""
    rows = [{**link, "ends": [names[link[end]] for end in "ab"], "less": _less(link, link)} for link in links]
    whole = _less(links[0], links[-1]) if len(links) > 1 else None
    return {"links": rows, "whole": whole, "last": links[-1] if links else None}


def _less(first: dict[str, Any], last: dict[str, Any]) -> float | None:
    """Share of hops saved; ``None`` if components were connected, before which there is no mean."""
    if first["before"] is None or last["after"] is None:
        return None
    return float(1 - last["after"] / first["before"])
