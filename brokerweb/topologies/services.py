"""What can be done with topologies. Pages, REST, the admin and commands are doors to this.

A topology is generated (ring, Waxman, …: equal kind, size, params and seed give equal links) or custom, with links that
were given, imported or edited. Either way its links are rows, and what is launched is what the rows say. Each save that
changes something is kept as a version (``versions``); ``studio`` has what an editor does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from brokerweb.kit.errors import NotPossible
from brokerweb.topologies import pictures, versions
from brokerweb.topologies.models import Link, Node, Topology
from overlay import topologies as overlay_topologies
from overlay.core.errors import InvalidSetting
from overlay.topologies import Graph, Kind, Limits, parts
from overlay.topologies.files import NUMBERS

CUSTOM = "custom"
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
    """A new topology; ``links`` belong to kind ``custom``. Raises ``InvalidSetting``."""
    graph = build_graph(kind, brokers, params or {}, seed, links)
    return _save_new(name, Topology(kind=kind, params=dict(params or {}), seed=seed, owner=owner), graph)


def update(
    topology: Topology,
    *,
    links: Sequence[Any] | None = None,
    by: User | None = None,
    since: int | None = None,
    **changes: Any,
) -> Topology:
    """Changes fields; anything but the name generates the links again.

    Raises ``InvalidSetting``, and ``NotPossible`` where ``since``, the version that was read, is not the newest.
    """
    name = changes.pop("name", topology.name)
    wanted = {field: changes.get(field, getattr(topology, field)) for field in ("kind", "brokers", "params", "seed")}
    is_same = links is None and all(getattr(topology, field) == value for field, value in wanted.items())
    graph = None if is_same else build_graph(**wanted, links=links)
    with transaction.atomic():  # IMMEDIATE: nobody takes the name in between
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
    """Raises ``NotPossible`` unless ``since`` is the version that the topology has; ``None`` is any."""
    if since is None or since == topology.version:
        return
    if since > topology.version:
        raise NotPossible(f"There is no version {since} of this topology; the newest is {topology.version}.")
    newest = topology.versions.select_related("by").first()
    who = newest.by.get_username() if newest and newest.by else "Somebody"
    raise NotPossible(f"{who} saved version {topology.version} after version {since} was opened. Nothing was saved.")


READERS = {
    GRAPHML: overlay_topologies.from_graphml,
    JSON: overlay_topologies.from_json,
    CSV: overlay_topologies.from_csv,
}


def import_text(*, name: str, text: str, form: str, owner: User | None = None) -> Topology:
    """A custom topology from a GraphML, JSON or CSV document. Raises ``InvalidSetting``."""
    if form not in READERS:
        raise InvalidSetting("format", f"must be one of {', '.join(READERS)}, not {form!r:.40}")
    graph = READERS[form](text, limits())
    return _save_new(name, Topology(kind=CUSTOM, owner=owner), graph)


def export_text(graph: Graph, form: str) -> tuple[str, str]:
    """The document in that form, and its media type. Raises ``InvalidSetting``."""
    if form == GRAPHML:
        return overlay_topologies.to_graphml(graph), "application/graphml+xml"
    if form == JSON:
        return json.dumps(overlay_topologies.to_json(graph), indent=1) + "\n", "application/json"
    if form == CSV:
        return overlay_topologies.to_csv(graph), "text/csv; charset=utf-8"
    raise InvalidSetting("format", f"must be one of {', '.join(READERS)}, not {form!r:.40}")


def file_name(topology: Topology, form: str) -> str:
    """A name that any file system takes."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in topology.name)
    return f"{plain}.{form}"


def build_graph(
    kind: str, brokers: int, params: Mapping[str, Any], seed: int, links: Sequence[Any] | None = None
) -> Graph:
    """The graph that these words describe, checked. Raises ``InvalidSetting``."""
    try:
        return overlay_topologies.generate(kind, brokers, params, seed, links, limits())
    except InvalidSetting as error:
        known = re.split(r"[.\[]", error.field)[0] in ("kind", "brokers", "links")
        raise InvalidSetting(error.field if known else f"params.{error.field}", error.sentence) from None


def limits() -> Limits:
    """How large a topology of this installation may be."""
    return Limits(brokers=settings.MAX_BROKERS, file_bytes=settings.MAX_UPLOAD_BYTES)


def free_name(name: str) -> str:
    """``name`` if no topology has it. Raises ``InvalidSetting``."""
    name = name.strip() if isinstance(name, str) else ""
    if not name or len(name) > 100 or not name.isprintable():
        raise InvalidSetting("name", "must be 1 to 100 printable characters")
    if Topology.objects.filter(name=name).exists():
        raise InvalidSetting("name", f"{name!r} is taken by another topology")
    return name


def delete(topology: Topology) -> None:
    """Deletes a topology. Raises ``NotPossible`` while a network is deployed from it."""
    if topology.networks.exists():
        raise NotPossible("A network was deployed from this topology; delete that first.")
    topology.delete()


@transaction.atomic  # IMMEDIATE: of a form that is sent twice at once the second finds the name taken
def _save_new(name: str, topology: Topology, graph: Graph) -> Topology:
    """Stores a topology under a name that no other has. Raises ``InvalidSetting``."""
    topology.name = free_name(name)
    return save_graph(topology, graph, topology.owner)


@transaction.atomic
def save_graph(topology: Topology, graph: Graph, by: User | None = None, note: str = "") -> Topology:
    """Stores the topology with these nodes and links in place of the ones it had, as a new version if it is one."""
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
    """What the rows say, unchecked. Without names and places where there is not one row for each broker."""
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
    """What is wrong with the rows, a sentence each. One that is only not connected can still be launched."""
    indexes = set(topology.nodes.values_list("index", flat=True))
    expected = set(range(topology.brokers))
    if indexes != expected:
        missing, surplus = sorted(expected - indexes)[:5], sorted(indexes - expected)[:5]
        counted = f"There should be a node for each broker from 0 to {topology.brokers - 1}"
        return [f"{counted}; missing: {missing or 'none'}, too many: {surplus or 'none'}."]
    graph = to_graph(topology)
    wrong = overlay_topologies.check(graph, limits(), must_connect=False)
    return wrong or ([sentence] if must_connect and (sentence := parts.sentence(graph)) else [])


@transaction.atomic
def remeasure(topology: Topology, by: User | None = None) -> list[str]:
    """Measures the rows again after somebody edited them; what is wrong with them, if anything."""
    if problems(topology, must_connect=False):
        topology.measures = {}
    else:
        graph = to_graph(topology)
        topology.measures, topology.sketch = overlay_topologies.measures(graph), pictures.sketch(graph)
        versions.record(topology, graph, by)
    topology.save(update_fields=["measures", "sketch", "version", "updated"])
    return problems(topology)


def document(topology: Topology) -> dict[str, Any]:
    """A topology as it stands in a configuration: complete, so that a run never needs the rows again.

    ``version`` and ``names`` are for people; a configuration is the same without them.
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
