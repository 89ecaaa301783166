"""Import and export of topologies as GraphML and JSON node-link (the format of ``networkx.node_link_data``).

Files are untrusted: XML with a DTD or entities is refused before it is parsed, sizes are limited, and every error
is an ``InvalidSetting`` whose field is its position (``links[3].delay_ms``, ``nodes[0].x``). A broker's index is its
place in the file; its name is the node's ``name`` or ``label``, otherwise its id. Known numbers are ``x``, ``y`` (or
``Longitude``, ``Latitude``, as in the Internet Topology Zoo) of nodes and ``LINK_SETTINGS`` of links;
others are ignored. Delay, jitter and loss of links are always written, other settings if they are not the default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from overlay.core.errors import InvalidSetting, shown
from overlay.core.links import LINK_SETTINGS, Link
from overlay.core.untrusted import Unreadable, read_json
from overlay.topologies import layout
from overlay.topologies.graph import DEFAULT_LIMITS, Graph, Limits, Position, require

Node = Mapping[str, Any]
"""A node or an edge in the file."""

NUMBERS = tuple(info.name for info in LINK_SETTINGS)
WHOLE = {info.name for info in LINK_SETTINGS if info.kind == "integer"}
PLACES = (("x", "y"), ("Longitude", "Latitude"))


def read_links(items: object, limits: Limits = DEFAULT_LIMITS, field: str = "links") -> list[dict[str, Any]]:
    """A list of ``[a, b]`` or ``{"a", "b", "delay_ms", "loss", …}`` as keyword arguments of ``Link``."""
    return [_link_fields(item, f"{field}[{i}]") for i, item in enumerate(_listed(items, field, limits.links))]


def from_json(document: object, limits: Limits = DEFAULT_LIMITS) -> Graph:
    """A node-link object, or the text of one. Raises ``InvalidSetting``."""
    if isinstance(document, str | bytes):
        document = _parse_json(document, limits)
    if not isinstance(document, Mapping):
        raise InvalidSetting("file", "must be an object with nodes and links")
    if document.get("directed") is True:
        raise InvalidSetting("directed", "a link works both ways: export the graph as undirected")
    nodes = _objects(document.get("nodes"), "nodes", limits.brokers)
    key = "edges" if "edges" in document else "links"
    edges = _objects(document.get(key), key, limits.links)
    return assemble(nodes, edges, [f"{key}[{i}]" for i in range(len(edges))], limits)


def from_graphml(text: str | bytes, limits: Limits = DEFAULT_LIMITS) -> Graph:
    """The one undirected graph of a GraphML file. Raises ``InvalidSetting``."""
    root = _parse_xml(text, limits)
    graphs = [child for child in root if _tag(child) == "graph"]
    if _tag(root) != "graphml" or len(graphs) != 1:
        raise InvalidSetting("file", "must be GraphML with exactly one graph")
    if graphs[0].get("edgedefault") == "directed" or any(e.get("directed") == "true" for e in graphs[0]):
        raise InvalidSetting("edgedefault", "a link works both ways: export the graph as undirected")
    keys = {child.get("id"): child for child in root if _tag(child) == "key"}
    elements: dict[str, list[dict[str, Any]]] = {"node": [], "edge": [], "hyperedge": []}
    defaults = {kind: _defaults(keys, kind) for kind in elements}
    for child in graphs[0]:
        if _tag(child) in elements:
            elements[_tag(child)].append({**defaults[_tag(child)], **_data(child, keys), **child.attrib})
    if elements["hyperedge"]:
        raise InvalidSetting("hyperedge", "a link has two ends; hyperedges are not supported")
    nodes, edges = elements["node"], elements["edge"]
    for what, found, limit in (("nodes", nodes, limits.brokers), ("edges", edges, limits.links)):
        if len(found) > limit:
            raise InvalidSetting(what, f"{len(found)} are more than the limit of {limit}")
    return assemble(nodes, edges, [f"edges[{i}]" for i in range(len(edges))], limits)


def to_json(graph: Graph) -> dict[str, Any]:
    """Node-link, in the format of ``networkx.node_link_graph``."""
    return {
        "directed": False,
        "multigraph": False,
        "graph": {},
        "nodes": [{"id": i, **_node_fields(graph, i)} for i in range(graph.brokers)],
        "edges": [{"source": link.a, "target": link.b, **_edge_fields(link)} for link in graph.links],
    }


def to_graphml(graph: Graph) -> str:
    """GraphML, ending in a newline."""
    import networkx as nx

    whole: nx.Graph[int] = nx.Graph()
    whole.add_nodes_from((i, _node_fields(graph, i)) for i in range(graph.brokers))
    whole.add_edges_from((link.a, link.b, _edge_fields(link)) for link in graph.links)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + "\n".join(nx.generate_graphml(whole)) + "\n"


def _node_fields(graph: Graph, i: int) -> dict[str, Any]:
    name = {"name": graph.names[i]} if graph.names else {}
    return name | (dict(zip(("x", "y"), graph.positions[i], strict=True)) if graph.positions else {})


def _edge_fields(link: Link) -> dict[str, float]:
    shape = link.to_json()
    return {name: shape[name] if name in WHOLE else float(shape[name]) for name in NUMBERS if name in shape}


def assemble(
    nodes: Sequence[Mapping[str, Any]], edges: Sequence[Mapping[str, Any]], places: Sequence[str], limits: Limits
) -> Graph:
    """The graph of ``nodes`` with an ``id`` and ``edges`` with a ``source`` and a ``target``.

    ``places`` are the positions of edges in the file, for errors. Raises ``InvalidSetting``.
    """
    index: dict[object, int] = {}
    for i, node in enumerate(nodes):
        identity = _identity(node, "id", f"nodes[{i}]")
        if index.setdefault(identity, i) != i:
            raise InvalidSetting(f"nodes[{i}].id", f"{shown(identity)} is the id of nodes[{index[identity]}] already")
    links = [_edge_link(edge, index, place) for edge, place in zip(edges, places, strict=True)]
    _refuse_twice(links, places)
    names = [str(node.get("name") or node.get("label") or node["id"]).strip() for node in nodes]
    plain = names == [str(i) for i in range(len(nodes))]
    graph = require(Graph(len(nodes), tuple(links), names=None if plain else tuple(names)), limits)
    positions = _positions(nodes) or layout.spring(graph.brokers, [link.ends for link in graph.links], 0)
    return Graph(graph.brokers, graph.links, tuple(positions), graph.names)


def _edge_link(edge: Mapping[str, Any], index: Mapping[object, int], where: str) -> Link:
    ends = []
    for end in ("source", "target"):
        identity = _identity(edge, end, where)
        if identity not in index:
            raise InvalidSetting(f"{where}.{end}", f"{shown(identity)} is the id of no node")
        ends.append(index[identity])
    return Link(*ends, **_shape_of(edge, where))


def _shape_of(item: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The properties of a link, with integers as such; ``require`` checks them."""
    found = numbers_of(item, NUMBERS, where)
    return {name: int(value) if name in WHOLE and value == int(value) else value for name, value in found.items()}


def _refuse_twice(links: Sequence[Link], places: Sequence[str]) -> None:
    """Refuses loops and duplicate links, with their position in the file."""
    seen: dict[tuple[int, int], str] = {}
    for link, place in zip(links, places, strict=True):
        if link.a == link.b:
            raise InvalidSetting(place, "joins a broker to itself")
        if seen.setdefault(link.ends, place) != place:
            raise InvalidSetting(place, f"joins the same two brokers as {seen[link.ends]}; a link works both ways")


def _positions(nodes: Sequence[Mapping[str, Any]]) -> list[Position] | None:
    """The nodes' positions, if all of them have one. North is up on a page, where y grows downwards."""
    for x, y in PLACES:
        if all(x in node and y in node for node in nodes):
            read = [numbers_of(node, (x, y), f"nodes[{i}]") for i, node in enumerate(nodes)]
            sign = -1 if y == "Latitude" else 1
            places = [(place[x], sign * place[y]) for place in read]
            fits = all(0 <= value <= 1 for place in places for value in place)
            return places if fits else layout.fit(places)
    return None


def _link_fields(item: object, where: str) -> dict[str, Any]:
    if isinstance(item, Sequence) and not isinstance(item, str | bytes):
        if len(item) != 2:
            raise InvalidSetting(where, f"a link is a pair of brokers, not {len(item)} values")
        item = dict(zip("ab", item, strict=True))
    item = _object(item, where)
    unknown = sorted(map(str, item.keys() - {"a", "b", *NUMBERS}))
    if unknown:
        raise InvalidSetting(
            f"{where}.{unknown[0]:.60}", f"is not known of a link; known are a, b, {', '.join(NUMBERS)}"
        )
    for end in ("a", "b"):
        if not isinstance(item.get(end), int) or isinstance(item[end], bool):
            raise InvalidSetting(f"{where}.{end}", f"must be the number of a broker, not {shown(item.get(end))}")
    return {"a": item["a"], "b": item["b"], **_shape_of(item, where)}


def numbers_of(item: Mapping[str, Any], names: Sequence[str], where: str) -> dict[str, float]:
    """The numbers of ``item`` among ``names``, checked to be finite. They may be text, as GraphML's values are.

    Raises ``InvalidSetting`` for the number's name below ``where``.
    """
    found = {}
    for name in names:
        if item.get(name) is None:
            continue
        try:
            if isinstance(item[name], bool):
                raise ValueError
            found[name] = float(item[name])
        except (TypeError, ValueError, OverflowError):
            raise InvalidSetting(f"{where}.{name}", f"must be a number, not {shown(item[name])}") from None
        if not isfinite(found[name]):
            raise InvalidSetting(f"{where}.{name}", f"must be a finite number, not {shown(item[name])}")
    return found


def _identity(item: Mapping[str, Any], name: str, where: str) -> str | int:
    identity = item.get(name)
    if isinstance(identity, bool) or not isinstance(identity, str | int) or identity == "":
        raise InvalidSetting(f"{where}.{name}", f"must be a text or a number, not {shown(identity)}")
    return identity


def _object(item: object, where: str) -> Mapping[str, Any]:
    if not isinstance(item, Mapping):
        raise InvalidSetting(where, f"must be an object, not {shown(item)}")
    return item


def _objects(items: object, field: str, limit: int) -> list[Mapping[str, Any]]:
    return [_object(item, f"{field}[{i}]") for i, item in enumerate(_listed(items, field, limit))]


def _listed(items: object, field: str, limit: int) -> Sequence[Any]:
    if not isinstance(items, Sequence) or isinstance(items, str | bytes):
        raise InvalidSetting(field, "must be a list")
    if len(items) > limit:
        raise InvalidSetting(field, f"{len(items)} are more than the limit of {limit}")
    return items


def _parse_json(text: str | bytes, limits: Limits) -> object:
    require_size(text, limits)
    try:
        return read_json(text if isinstance(text, str) else text.decode())
    except UnicodeDecodeError as error:
        raise InvalidSetting("file", f"is not text in UTF-8: {error.reason} at byte {error.start}") from None
    except Unreadable as error:
        raise InvalidSetting("file", str(error)) from None


def _parse_xml(text: str | bytes, limits: Limits) -> Element:
    require_size(text, limits)
    try:
        root: Element = fromstring(text, forbid_dtd=True)
    except DefusedXmlException:
        raise InvalidSetting("file", "has a DTD or entities, which are refused: export plain GraphML") from None
    except (ParseError, ValueError, LookupError) as error:
        raise InvalidSetting("file", f"is not XML: {error}") from None
    return root


def require_size(text: str | bytes, limits: Limits) -> None:
    """Raises ``InvalidSetting`` if a text exceeds the limit for files."""
    if len(text) > limits.file_bytes:
        raise InvalidSetting("file", f"{len(text)} bytes are more than the limit of {limits.file_bytes}")


def _tag(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _defaults(keys: Mapping[str | None, Element], kind: str) -> dict[str, str]:
    """The default values of a kind of element."""
    values = {}
    for key in keys.values():
        default = next((child.text for child in key if _tag(child) == "default"), None)
        if default is not None and key.get("for") in (kind, "all", None):
            values[key.get("attr.name", "")] = default.strip()
    return values


def _data(element: Element, keys: Mapping[str | None, Element]) -> dict[str, str]:
    """The values of an element's ``data`` children, by the name of their key."""
    values = {}
    for child in element:
        if _tag(child) == "data":
            key = keys.get(child.get("key"), child)
            values[key.get("attr.name", "")] = (child.text or "").strip()
    return values
