"""The contract's words for faults, put into those of this program. Pure.

::

    {what: kill, nodes: [server, 3, 17], at_s: 5, until_s: 9}   a kill of the server, and a crash of two clients
    {what: restart, clients: 0.1, at_s: 5}                      a tenth of the clients, drawn
    {what: lossy, links: peers, loss: 0.1, at_s: 5}             also slow; links of the server, of peers, or all
    {what: partition, islands: [[server, 0, 1], [2, 3]], at_s: 5}
    {what: cut, nodes: [server], at_s: 5, until_s: 9}

A number is a client. What cannot be read is left to the reader of all faults, which names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overlay.systems.radiator.faults import LINKS

NODES, SERVER = "nodes", "server"
OF_CLIENTS = {"kill": "crash", "restart": "restart_client"}
OF_LINKS = {"lossy": "lossy_links", "slow": "slow_links"}


def in_common_words(documents: object) -> object:
    """What a document says in addition, because it names the server and clients, is at the end of the list."""
    if not isinstance(documents, list):
        return documents
    found, more = list[Any](), list[Any]()
    for document in documents:
        first, *others = _translated(document) if isinstance(document, Mapping) else [document]
        found.append(first)
        more += others
    return found + more


def _translated(document: Mapping[Any, Any]) -> list[Any]:
    what = document.get("what")
    if what in OF_LINKS and document.get("links") in LINKS:
        return [{"clients": 1.0, **document, "what": OF_LINKS[what]}]
    if what == "partition" and _is_of_nodes(document.get("islands")):
        text = " | ".join(" ".join(map(str, island)) for island in document["islands"])
        return [{"clients": 1.0, **document, "what": "separated", "islands": text}]
    if NODES in document and _are_nodes(document[NODES]):
        return _of_nodes(document)
    if what in OF_CLIENTS and "clients" in document:
        return [{**document, "what": OF_CLIENTS[what]}]
    return [document]


def _of_nodes(document: Mapping[Any, Any]) -> list[Any]:
    rest = {name: value for name, value in document.items() if name != NODES}
    what, nodes = document.get("what"), document[NODES]
    clients = [f"client-{node}" for node in nodes if node != SERVER]
    parts: list[Any] = []
    if SERVER in nodes:
        parts.append({**rest, "servers": ["server-0"]})
    if clients:
        parts.append({**rest, "what": OF_CLIENTS.get(str(what), what), "clients": clients})
    return parts


def _are_nodes(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(one == SERVER or type(one) is int for one in value)


def _is_of_nodes(value: object) -> bool:
    """Also of one server, which is the whole topology."""
    return isinstance(value, list) and len(value) > 1 and all(map(_are_nodes, value))
