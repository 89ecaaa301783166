"""The drawing of a change of a network: both documents in one picture. Counterpart: ``static/js/graph.js``. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from brokerweb.networks.drafts import Draft
from brokerweb.topologies import pictures

ADDED, TAKEN, TOUCHED = "added", "removed", "changed"
APART = 0.2
"""Between a node and the one in its place, as a share of the width."""


def picture(before: Draft, after: Draft, restarted: Collection[int] = ()) -> dict[str, Any]:
    """``{nodes, links}`` of what is there before or after, each with its ``change``, if any.

    ``changed`` are brokers of ``restarted``, and those that start or stop to run.
    """
    was, now, fewer = set(before.brokers), set(after.brokers), before.deployed["brokers"]
    drawn = pictures.of_document(after.deployed)
    nodes = [node for node in drawn["nodes"] if node["index"] in was | now]
    for node in nodes:
        index = node["index"]
        if index not in now:
            node["change"] = TAKEN
        elif index not in was or index >= fewer:
            node["change"] = ADDED
        elif index in restarted or _runs(before, index) != _runs(after, index):
            node["change"] = TOUCHED
    _part(nodes)
    new = after.links - before.links
    links = [{"a": a, "b": b, **({"change": ADDED} if (a, b) in new else {})} for a, b in sorted(after.links)]
    links += [{"a": a, "b": b, "change": TAKEN} for a, b in sorted(before.links - after.links)]
    shown = {node["index"] for node in nodes}
    return {"nodes": nodes, "links": [link for link in links if shown.issuperset((link["a"], link["b"]))]}


def _part(nodes: list[dict[str, Any]]) -> None:
    """Moves each removed node from the one in its place, so that both are seen."""
    placed = [node for node in nodes if node["x"] is not None]
    kept = {(node["x"], node["y"]) for node in placed if node.get("change") != TAKEN}
    apart = APART * max((abs(node["x"] - placed[0]["x"]) for node in placed), default=0.0)
    for node in placed:
        if node.get("change") == TAKEN and (node["x"], node["y"]) in kept:
            node["x"] += apart


def _runs(draft: Draft, index: int) -> bool:
    return index in draft.running
