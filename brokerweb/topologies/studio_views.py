"""Pages of the topology editor, versions and differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from brokerweb.kit.errors import NotPossible
from brokerweb.kit.view_guards import changes, form_page, page_of, person
from brokerweb.topologies import pictures, services, studio, uses
from brokerweb.topologies import versions as kept
from brokerweb.topologies.models import Topology, TopologyVersion
from overlay import topologies as overlay_topologies
from overlay.core.link_shapes import in_words
from overlay.core.links import LINK_SETTINGS, Link
from overlay.topologies import Graph, advice, parts
from overlay.topologies import difference as overlay_difference
from overlay.topologies.graph import MAX_NAME

LISTED = 200
"""Rows of the table of differences; the graph shows all."""
COMMON = 3
"""Link conditions that are always shown: delay, jitter and loss."""


@form_page
def edit(request: HttpRequest, topology_id: str) -> HttpResponse:
    """The editor, which uses REST."""
    topology = get_object_or_404(Topology, pk=topology_id)
    limits = services.limits()
    context = {
        "topology": topology,
        "policies": studio.walk_choices(),
        "most_links": advice.MOST_LINKS,
        "most_note": studio.MAX_NOTE,
        "shapes": LINK_SETTINGS[:COMMON],
        "more_shapes": LINK_SETTINGS[COMMON:],
        "drawing": {
            "id": topology.pk,
            "version": topology.version,
            "limits": {"brokers": settings.MAX_BROKERS, "links": limits.links, "name": MAX_NAME},
            "largest": advice.LARGEST,
            "shapes": [
                {**{key: getattr(one, key) for key in ("name", "kind", "unit", "low", "high")}, "usual": one.default}
                for one in LINK_SETTINGS
            ],
            **studio.drawn(services.to_graph(topology)),
        },
    }
    return render(request, "topologies/edit.html", context)


@changes
def clone(request: HttpRequest, topology_id: str) -> HttpResponse:
    copy = studio.clone(get_object_or_404(Topology, pk=topology_id), person(request))
    messages.success(request, f"Created {copy.name}.")
    return redirect("topologies:detail", copy.pk)


@login_required
def versions(request: HttpRequest, topology_id: str) -> HttpResponse:
    topology = get_object_or_404(Topology, pk=topology_id)
    page = page_of(request, topology.versions.select_related("by").defer("document"))
    context = {"topology": topology, "page": page, "runs": uses.of(topology).runs, "most": kept.MOST}
    return render(request, "topologies/versions.html", context)


@login_required
def version(request: HttpRequest, topology_id: str, number: int) -> HttpResponse:
    """One version with graph and measures."""
    topology, shown = _version(topology_id, number)
    graph = kept.graph_of(shown.document)
    before, after = kept.neighbours(topology, number)
    context = {
        "topology": topology,
        "version": shown,
        "graph": pictures.of_graph(graph),
        "apart": parts.sentence(graph),
        "measures": overlay_topologies.measures(graph),
        "before": before,
        "after": after,
        "runs": uses.of(topology).runs.get(number, 0),
    }
    return render(request, "topologies/version.html", context)


@changes
def restore(request: HttpRequest, topology_id: str, number: int) -> HttpResponse:
    _, shown = _version(topology_id, number)
    try:
        restored = studio.restore(shown, person(request))
    except NotPossible as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Restored version {number} as version {restored.version}.")
    return redirect("topologies:detail", topology_id)


@login_required
def difference(request: HttpRequest, topology_id: str) -> HttpResponse:
    """Differences between two versions."""
    topology = get_object_or_404(Topology, pk=topology_id)
    new = _chosen(request.GET.get("to", ""), topology.version)
    old = _chosen(request.GET.get("from", ""), kept.neighbours(topology, new)[0] or new)
    was, now = (_version(topology_id, number)[1] for number in (old, new))
    before, after = kept.graph_of(was.document), kept.graph_of(now.document)
    found = overlay_difference.difference(before, after)
    rows = _rows(before, after, found)
    context = {
        "topology": topology,
        "old": was,
        "new": now,
        "numbers": list(topology.versions.values_list("number", flat=True)),
        "found": found,
        "rows": rows[:LISTED],
        "more": max(0, len(rows) - LISTED),
        "graph": pictures.of_difference(before, after, found),
        "apart": parts.sentence(after),
        "measures": _compared(before, after),
    }
    return render(request, "topologies/difference.html", context)


@dataclass(frozen=True)
class Row:
    """A row of the table of differences."""

    change: str
    what: str
    before: str = ""
    after: str = ""


def _rows(old: Graph, new: Graph, found: overlay_difference.Difference) -> list[Row]:
    was, now = _names(old), _names(new)
    rows = [Row("added", f"broker {now[i]}") for i in found.brokers_added]
    rows += [Row("removed", f"broker {was[i]}") for i in found.brokers_removed]
    rows += [Row("renamed", f"broker {i}", a or "no name", b or "no name") for i, a, b in found.brokers_renamed]
    rows += [Row("moved", f"broker {now[i]}") for i in found.brokers_moved]
    rows += [Row("added", f"link {now[link.a]} – {now[link.b]}", "", _shape(link)) for link in found.links_added]
    rows += [Row("removed", f"link {was[link.a]} – {was[link.b]}", _shape(link)) for link in found.links_removed]
    rows += [Row("changed", f"link {now[b.a]} – {now[b.b]}", _shape(a), _shape(b)) for a, b in found.links_changed]
    return rows


def _names(graph: Graph) -> list[str]:
    return list(graph.names) if graph.names else [str(i) for i in range(graph.brokers)]


def _shape(link: Link) -> str:
    return in_words(link) or "0 ms"


def _compared(old: Graph, new: Graph) -> list[tuple[str, Any, Any]]:
    """Measures of both versions, differing ones first."""
    was, now = overlay_topologies.measures(old), overlay_topologies.measures(new)
    rows = [("brokers", old.brokers, new.brokers), *((name, was[name], now[name]) for name in was)]
    return sorted(rows, key=lambda row: row[1] == row[2])


def _chosen(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else otherwise


def _version(topology_id: str, number: int) -> tuple[Topology, TopologyVersion]:
    version = get_object_or_404(
        TopologyVersion.objects.select_related("topology", "by"), topology_id=topology_id, number=number
    )
    return version.topology, version
