"""Use cases of topologies, called by pages, REST, the admin and commands.

A topology is generated (ring, Waxman, …: equal kind, size, params and seed give equal links) or custom, with given,
imported or edited links. Links are always stored, and launches use the stored rows. Each save with changes creates a
version (``versions``); ``studio`` implements the editor.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from brokerweb.changelog.recording import CHANGE, CREATE, DELETE, logged, recorded, subject
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.etags import Outdated
from brokerweb.topologies import pictures, versions
from brokerweb.topologies.models import Link, Node, Topology
from overlay import topologies as overlay_topologies
from overlay.core.errors import InvalidSetting, shown
from overlay.topologies import Graph, Kind, Limits, parts
from overlay.topologies.files import NUMBERS

CUSTOM = "custom"
subject(Topology, "topology", "name", "kind", "brokers", "params", "seed", "version")
GRAPHML, JSON, CSV = "graphml", "json", "csv"


def create(
    *,
    name: str,
    kind: str,
    brokers: int,
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
    links: Sequence[Any] | None = None,
    owner: User | None = None,
) -> Topology:
    """Create a topology; ``links`` are for kind ``custom``. Raises ``InvalidSetting``."""
    graph = build_graph(kind, brokers, params or {}, seed, links)
    return _save_new(name, Topology(kind=kind, params=dict(params or {}), seed=seed, owner=owner), graph)


@logged(CHANGE)
def update(
    topology: Topology,
    *,
    links: Sequence[Any] | None = None,
    by: User | None = None,
    since: int | None = None,
    **changes: Any,
) -> Topology:
    """Change fields; any field except the name generates the links again.

    Raises ``InvalidSetting``, and ``NotPossible`` if ``since``, the version that was read, is not the latest.
    """
    name = changes.pop("name", topology.name)
    wanted = {field: changes.get(field, getattr(topology, field)) for field in ("kind", "brokers", "params", "seed")}
    is_same = links is None and all(getattr(topology, field) == value for field, value in wanted.items())
    graph = None if is_same else build_graph(**wanted, links=links)
    with transaction.atomic():  # IMMEDIATE: the name cannot be taken in between
        check_newest(Topology.objects.select_for_update().get(pk=topology.pk), since)
        if name != topology.name:
            topology.name = free_name(name)
        if graph is None:
            topology.save()
            return topology
        for field, value in wanted.items():
            setattr(topology, field, value)
        return save_graph(topology, graph, by)


def check_newest(topology: Topology, since: int | None) -> None:
    """Raises ``Outdated`` unless ``since`` is the current version; ``None`` accepts any."""
    if since is None or since == topology.version:
        return
    if since > topology.version:
        raise Outdated(f"This topology has no version {since}; the latest is {topology.version}.")
    newest = topology.versions.select_related("by").first()
    who = newest.by.get_username() if newest and newest.by else "Another user"
    raise Outdated(f"{who} saved version {topology.version} after version {since} was opened. Nothing was saved.")


READERS = {
    GRAPHML: overlay_topologies.from_graphml,
    JSON: overlay_topologies.from_json,
    CSV: overlay_topologies.from_csv,
}


def import_text(*, name: str, text: str, form: str, owner: User | None = None) -> Topology:
    """Create a custom topology from a GraphML, JSON or CSV document. Raises ``InvalidSetting``."""
    if form not in READERS:
        raise InvalidSetting("format", f"must be one of {', '.join(READERS)}, not {shown(form, 40)}")
    graph = READERS[form](text, limits())
    return _save_new(name, Topology(kind=CUSTOM, owner=owner), graph)


def export_text(graph: Graph, form: str) -> tuple[str, str]:
    """The document in a format, and its media type. Raises ``InvalidSetting``."""
    if form == GRAPHML:
        return overlay_topologies.to_graphml(graph), "application/graphml+xml"
    if form == JSON:
        return json.dumps(overlay_topologies.to_json(graph), indent=1) + "\n", "application/json"
    if form == CSV:
        return overlay_topologies.to_csv(graph), "text/csv; charset=utf-8"
    raise InvalidSetting("format", f"must be one of {', '.join(READERS)}, not {shown(form, 40)}")


def file_name(topology: Topology, form: str) -> str:
    """A name valid on any file system."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in topology.name)
    return f"{plain}.{form}"


def build_graph(
    kind: str, brokers: int, params: Mapping[str, Any], seed: int, links: Sequence[Any] | None = None
) -> Graph:
    """The validated graph of a description. Raises ``InvalidSetting``."""
    try:
        return overlay_topologies.generate(kind, brokers, params, seed, links, limits())
    except InvalidSetting as error:
        known = re.split(r"[.\[]", error.field)[0] in ("kind", "brokers", "links")
        raise InvalidSetting(error.field if known else f"params.{error.field}", error.sentence) from None


def limits() -> Limits:
    """Size limits of topologies on this installation."""
    return Limits(brokers=settings.MAX_BROKERS, file_bytes=settings.MAX_UPLOAD_BYTES)


def free_name(name: str) -> str:
    """``name`` if it is free. Raises ``InvalidSetting``."""
    name = name.strip() if isinstance(name, str) else ""
    if not name or len(name) > 100 or not name.isprintable():
        raise InvalidSetting("name", "must be 1 to 100 printable characters")
    if Topology.objects.filter(name=name).exists():
        raise InvalidSetting("name", f"{name!r} is taken by another topology")
    return name


def delete(topology: Topology, *, since: int | None = None) -> None:
    """Delete a topology. Raises ``Outdated`` unless it is version ``since``, ``NotPossible`` while networks use it."""
    check_newest(topology, since)
    if topology.networks.exists():
        raise NotPossible("A network uses this topology. Delete the network first.")
    with recorded(DELETE, topology):
        topology.delete()


def _save_new(name: str, topology: Topology, graph: Graph) -> Topology:
    """Store a new topology; its name must be free. Raises ``InvalidSetting``."""
    with recorded(CREATE, by=topology.owner) as record:  # IMMEDIATE: of two concurrent requests, one finds it taken
        topology.name = free_name(name)
        record.row = topology
        return save_graph(topology, graph, topology.owner)


@transaction.atomic
def save_graph(topology: Topology, graph: Graph, by: User | None = None, note: str = "") -> Topology:
    """Replace the nodes and links of a topology; creates a version if they changed."""
    topology.brokers = graph.brokers
    topology.measures = overlay_topologies.measures(graph)
    topology.sketch = pictures.sketch(graph)
    topology.save()
    if versions.record(topology, graph, by, note):
        topology.save(update_fields=["version"])
    topology.nodes.all().delete()
    topology.links.all().delete()
    positions = graph.positions or [(None, None)] * graph.brokers
    names = graph.names or [""] * graph.brokers
    Node.objects.bulk_create(
        Node(topology=topology, index=index, name="" if name == str(index) else name, x=x, y=y)
        for index, (name, (x, y)) in enumerate(zip(names, positions, strict=True))
    )
    Link.objects.bulk_create(
        Link(topology=topology, a=one.ends[0], b=one.ends[1], **{k: getattr(one, k) for k in NUMBERS})
        for one in graph.links
    )
    return topology


def to_graph(topology: Topology) -> Graph:
    """The stored graph without validation; without names and positions unless there is exactly one row per broker."""
    nodes = list(topology.nodes.all())
    nodes = nodes if len(nodes) == topology.brokers else []
    placed = bool(nodes) and all(node.x is not None and node.y is not None for node in nodes)
    named = any(node.name for node in nodes)
    return Graph(
        brokers=topology.brokers,
        links=tuple(row.to_link() for row in topology.links.all()),
        positions=tuple((float(node.x or 0), float(node.y or 0)) for node in nodes) if placed else None,
        names=tuple(node.name or str(node.index) for node in nodes) if named else None,
    )


def problems(topology: Topology, *, must_connect: bool = True) -> list[str]:
    """Problems of the rows, one sentence each. A disconnected topology is not a problem for a launch."""
    indexes = set(topology.nodes.values_list("index", flat=True))
    expected = set(range(topology.brokers))
    if indexes != expected:
        missing, surplus = sorted(expected - indexes)[:5], sorted(indexes - expected)[:5]
        counted = f"There must be one node for each broker from 0 to {topology.brokers - 1}"
        return [f"{counted}; missing: {missing or 'none'}, surplus: {surplus or 'none'}."]
    graph = to_graph(topology)
    wrong = overlay_topologies.check(graph, limits(), must_connect=False)
    return wrong or ([sentence] if must_connect and (sentence := parts.sentence(graph)) else [])


@transaction.atomic
def remeasure(topology: Topology, by: User | None = None) -> list[str]:
    """Recompute the measures after an edit; returns problems, if any."""
    if problems(topology, must_connect=False):
        topology.measures = {}
    else:
        graph = to_graph(topology)
        topology.measures, topology.sketch = overlay_topologies.measures(graph), pictures.sketch(graph)
        versions.record(topology, graph, by)
    topology.save(update_fields=["measures", "sketch", "version", "updated"])
    return problems(topology)


def document(topology: Topology) -> dict[str, Any]:
    """A topology as stored in a configuration, complete, so that runs do not depend on its rows.

    ``version`` and ``names`` are informative and not part of a configuration's identity.
    """
    graph = to_graph(topology)
    named = {"names": list(graph.names)} if graph.names else {}
    return {
        "id": topology.id,
        "name": topology.name,
        "version": topology.version,
        "kind": topology.kind,
        "brokers": graph.brokers,
        **named,
        "links": [link.to_json() for link in graph.links],
        "positions": [list(place) for place in graph.positions] if graph.positions else None,
    }


def kinds() -> Mapping[str, Kind]:
    """The generators by name, for forms and the schema."""
    return overlay_topologies.KINDS
