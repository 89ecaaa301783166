"""Topology references of a definition: the id or the name of a stored topology, or a definition of one.

An inline definition is an object of ``overlay.experiment.inline`` (``{kind: ring, brokers: 10}``). If an equal topology
is stored, it refers to that one; otherwise the topology is created together with the experiment.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User

from brokerweb.topologies import services as topologies
from brokerweb.topologies.models import Topology
from overlay.core.engines import LIVE
from overlay.core.errors import InvalidSetting
from overlay.core.links import Link
from overlay.experiment import inline
from overlay.experiment.definition import MAX_NAME, MAX_SEED, checked_name
from overlay.topologies import Graph, Limits, generate

MADE = "made:"
"""Prefix of names of new topologies; ids never have it."""
MOST_MADE, MOST_NAMED = 50, 1_000
"""Maximum number of new topologies in a definition, and of topologies in a list."""
LOOKED_AT = 20
"""Maximum number of stored topologies of the same kind, size and seed compared link by link."""


class References:
    """Resolves the topologies of a definition to ids and documents."""

    def __init__(self, engine: Any = LIVE) -> None:
        self._engine = engine if isinstance(engine, str) else LIVE
        self._objects: dict[str, dict[str, Any]] = {}
        self._documents: dict[str, dict[str, Any] | None] = {}

    @property
    def to_make(self) -> list[str]:
        """Names of topologies to create."""
        return [_name(value) for value in self._objects.values()]

    def resolved(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """``body`` with an id, or a placeholder, for every topology. Raises ``InvalidSetting``."""
        return _replaced(body, self._id)

    def kept(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """``body`` with ids of stored topologies and objects for new ones. Raises ``InvalidSetting``."""
        resolved = self.resolved(body)
        return _replaced(resolved, lambda field, value: self._objects.get(value, value) if _is_word(value) else value)

    def find(self, topology_id: str) -> dict[str, Any] | None:
        """The document of a topology, cached."""
        if topology_id not in self._documents:
            kept = Topology.objects.filter(pk=topology_id).first()
            self._documents[topology_id] = topologies.document(kept) if kept else None
        return self._documents[topology_id]

    def made(self, body: Mapping[str, Any], owner: User | None) -> dict[str, Any]:
        """The result of ``resolved`` with ids of the topologies created now. Raises ``InvalidSetting``."""
        ids = {word: _make(value, owner).pk for word, value in self._objects.items()}
        return _replaced(body, lambda field, value: ids.get(value, value) if _is_word(value) else value)

    def _id(self, field: str, value: Any) -> Any:
        if isinstance(value, dict):
            return self._of_object(field, value)
        if isinstance(value, str) and not Topology.objects.filter(pk=value).exists():
            named = Topology.objects.filter(name=value).values_list("pk", flat=True).first()
            return named or value
        return value

    def _of_object(self, field: str, value: dict[str, Any]) -> str:
        document = drawn(field, value, self._engine)
        if (kept := _like(value, document)) is not None:
            return str(kept.pk)
        word = MADE + _canonical(value)
        if word not in self._objects and len(self._objects) >= MOST_MADE:
            raise InvalidSetting(field, f"exceeds the limit of {MOST_MADE} new topologies per definition")
        self._objects[word] = value
        self._documents[word] = document
        return word


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(MADE)


def _replaced(body: Mapping[str, Any], instead: Callable[[str, Any], Any]) -> dict[str, Any]:
    """``body`` with every topology replaced by ``instead(field, value)``."""

    def of(field: str, value: Any) -> Any:
        if isinstance(value, list):
            if len(value) > MOST_NAMED:
                raise InvalidSetting(field, f"has {len(value):,} topologies; the limit is {MOST_NAMED:,}")
            return [instead(f"{field}.{index}", one) for index, one in enumerate(value)]
        return instead(field, value)

    replaced = dict(body)
    if body.get("topology") is not None:
        replaced["topology"] = of("topology", body["topology"])
    if isinstance(blocks := body.get("blocks"), list):
        replaced["blocks"] = [
            {**block, "topology": of(f"blocks.{index}.topology", block["topology"])}
            if isinstance(block, dict) and "topology" in block
            else block
            for index, block in enumerate(blocks)
        ]
    return replaced


def missing(definition: Mapping[str, Any]) -> list[str]:
    """Ids of deleted topologies in a definition."""
    ids: list[str] = []

    def note(field: str, value: str) -> str:
        ids.append(value)
        return value

    _replaced(definition, note)
    there = set(Topology.objects.filter(pk__in=ids).values_list("pk", flat=True))
    return [one for one in dict.fromkeys(ids) if one not in there]


def drawn(field: str, value: Mapping[str, Any], engine: str = LIVE) -> dict[str, Any]:
    """The document of an inline topology. Raises ``InvalidSetting`` for ``field``."""
    brokers = value.get("brokers")
    if isinstance(brokers, int) and brokers > settings.MAX_BROKERS:
        raise InvalidSetting(
            f"{field}.brokers",
            f"has {brokers:,} brokers; the limit here is {settings.MAX_BROKERS:,}. "
            "“python -m telemetry sweep” simulates larger ones",
        )
    seed = value.get("seed", 0)
    if isinstance(seed, int) and not 0 <= seed <= MAX_SEED:
        raise InvalidSetting(f"{field}.seed", f"must be a whole number from 0 to {MAX_SEED}")
    try:
        return _drawn(_canonical(value), engine)
    except InvalidSetting as error:
        raise InvalidSetting(error.field.replace("topology", field, 1), error.sentence) from None


@lru_cache(maxsize=32)
def _drawn(value: str, engine: str) -> dict[str, Any]:
    """Cached: the form requests it on every keystroke, and a large Waxman graph takes seconds."""
    body, find = inline.separated({"topology": json.loads(value), "engine": engine})
    document = find(body["topology"])
    assert document is not None
    return document


def _like(value: Mapping[str, Any], document: Mapping[str, Any]) -> Topology | None:
    """A stored topology with the same links, preferring the same name."""
    rows = Topology.objects.filter(kind=document["kind"], brokers=document["brokers"], seed=value.get("seed", 0))
    named = rows.filter(name=_name(value)).first()
    rest = list(rows.order_by("created")[:LOOKED_AT])
    candidates = [*([named] if named else []), *(one for one in rest if one.params == (value.get("params") or {}))]
    return next((one for one in candidates if topologies.document(one)["links"] == document["links"]), None)


def _make(value: Mapping[str, Any], owner: User | None) -> Topology:
    name = wanted = _name(value)
    number = 1
    while Topology.objects.filter(name=name).exists():
        number += 1
        name = f"{wanted[:90]} ({number})"
    made: dict[str, Any] = {key: value[key] for key in ("kind", "brokers", "params", "seed", "links") if key in value}
    try:
        return topologies.create(name=name, owner=owner, **made)
    except InvalidSetting as error:
        raise InvalidSetting(f"topology.{error.field}", error.sentence) from None


def _name(value: Mapping[str, Any]) -> str:
    """Its name, or "Waxman of 100"."""
    row = topologies.kinds().get(value["kind"])
    title = row.title if row else str(value["kind"])
    made = title if value["brokers"] == 1 else f"{title} of {value['brokers']}"
    return checked_name("topology.name", value.get("name") or made[:MAX_NAME])


def name_of(value: Any) -> str:
    """The form's value for a new topology."""
    can_be_said = isinstance(value, dict) and isinstance(value.get("kind"), str) and "brokers" in value
    return _name(value) if can_be_said else "a topology"


def carried(document: Mapping[str, Any]) -> dict[str, Any]:
    """An inline definition of a configuration's topology, for readers without access to stored topologies.

    The generator's parameters if they reproduce the links, otherwise the links themselves.
    """
    kept = Topology.objects.filter(pk=document.get("id") or "").first()
    said: dict[str, Any] = {"name": document["name"], "kind": document["kind"], "brokers": document["brokers"]}
    if kept is not None and document["kind"] != topologies.CUSTOM:
        said |= {"params": kept.params} if kept.params else {}
        said |= {"seed": kept.seed} if kept.seed else {}
        if _draws(_canonical(said), _canonical(document["links"])):
            return said
    links = document["links"]
    is_plain = all(Link(**link) == Link(link["a"], link["b"]) for link in links)
    written = [[link["a"], link["b"]] for link in links] if is_plain else [dict(link) for link in links]
    return {"name": document["name"], "kind": topologies.CUSTOM, "brokers": document["brokers"], "links": written}


@lru_cache(maxsize=64)
def _draws(value: str, links: str) -> bool:
    """Whether the parameters reproduce these links."""
    said = json.loads(value)
    try:
        graph: Graph = generate(
            said["kind"], said["brokers"], said.get("params"), said.get("seed", 0), None, Limits(brokers=100_000)
        )
    except InvalidSetting:
        return False
    return _canonical([link.to_json() for link in graph.links]) == links


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
