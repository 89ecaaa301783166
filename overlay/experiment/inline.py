"""Definitions with inline topologies, for commands without a database. Pure.

Instead of a topology's id, a definition, its lists and its blocks contain its description::

    {kind: waxman, brokers: 50, params: {mean_degree: 4}, seed: 3}
    {kind: custom, brokers: 3, links: [[0, 1], [1, 2]]}
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from overlay.core.engines import ENGINES, LIVE, SIMULATED
from overlay.core.errors import InvalidSetting, shown
from overlay.experiment.definition import Checked, FindTopology, checked, checked_name, topology_document
from overlay.experiment.files import parse_definition
from overlay.topologies import Graph, Limits, generate

FIELDS = ("name", "kind", "brokers", "params", "seed", "links")


def simulated(data: bytes, file: str, **instead: Any) -> Checked:
    """The definition in a file with this name and content, for the simulator. ``instead`` overrides its fields.

    The format is that of REST. A definition for live runs is simulated, and no report is created. Raises
    ``InvalidSetting``.
    """
    path = PurePath(file)
    body = {"name": path.stem, **parse_definition(data, is_json=path.suffix == ".json")}
    if body.get("engine") in (None, LIVE):
        body["engine"] = SIMULATED
    body.pop("report_when_done", None)
    return checked(*separated({**body, **instead}))


def separated(body: Mapping[str, Any]) -> tuple[dict[str, Any], FindTopology]:
    """``body`` with names instead of topologies, and a function that finds them by name. Raises ``InvalidSetting``."""
    engine = ENGINES.get(str(body.get("engine", LIVE)), ENGINES[LIVE])
    found = _Topologies(Limits(brokers=engine.brokers, links=engine.links))
    separate = dict(body)
    if body.get("topology") is not None:
        separate["topology"] = found.named("topology", body["topology"])
    if isinstance(blocks := body.get("blocks"), list):
        separate["blocks"] = [
            {**block, "topology": found.named(f"blocks.{index}.topology", block["topology"])}
            if isinstance(block, dict) and "topology" in block
            else block
            for index, block in enumerate(blocks)
        ]
    return separate, found.documents.get


class _Topologies:
    """The topologies of a definition, by assigned name."""

    def __init__(self, limits: Limits) -> None:
        self.documents: dict[str, dict[str, Any]] = {}
        self._limits = limits

    def named(self, field: str, value: Any) -> Any:
        """A name for each object; equal objects have the same name."""
        if isinstance(value, list):
            return [self.named(f"{field}.{index}", one) for index, one in enumerate(value)]
        document = self._document(field, value)
        name = wanted = document["name"]
        number = 1
        while name in self.documents and self.documents[name] != {**document, "name": name}:
            number += 1
            name = f"{wanted} ({number})"
        self.documents[name] = {**document, "name": name}
        return name

    def _document(self, field: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise InvalidSetting(field, f"must be an object such as {{kind: ring, brokers: 10}}, not {shown(value)}")
        for name in value:
            if name not in FIELDS:
                raise InvalidSetting(f"{field}.{str(name)[:60]}", f"is not known; a topology has {', '.join(FIELDS)}")
        for name in ("kind", "brokers"):
            if name not in value:
                raise InvalidSetting(f"{field}.{name}", "is required")
        kind, brokers, params = value["kind"], value["brokers"], value.get("params") or {}
        graph = self._graph(field, kind, brokers, params, value.get("seed", 0), value.get("links"))
        name = checked_name(f"{field}.name", value.get("name") or f"{kind}-{brokers}")
        return topology_document(graph, name, kind)

    def _graph(self, field: str, kind: Any, brokers: Any, params: Any, seed: Any, links: Any) -> Graph:
        if not isinstance(params, dict):
            raise InvalidSetting(f"{field}.params", "must be an object of names and values")
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise InvalidSetting(f"{field}.seed", f"must be a whole number, not {shown(seed, 40)}")
        if links is not None and not isinstance(links, list):
            raise InvalidSetting(f"{field}.links", "must be a list")
        try:
            return generate(kind, brokers, params, seed, links, self._limits)
        except InvalidSetting as error:
            is_own = re.split(r"[.\[]", error.field)[0] in ("kind", "brokers", "links")
            raise InvalidSetting(f"{field}.{'' if is_own else 'params.'}{error.field}", error.sentence) from None
