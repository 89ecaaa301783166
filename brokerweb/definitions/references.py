"""What a definition says of its topologies: the id of one that is kept, its name, or what makes one.

What makes one is an object as ``overlay.experiment.inline`` has it (``{kind: ring, brokers: 10}``). One that is like a
topology that is kept means that one; one that is like none is made when the experiment is, and not before.
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
"""What the name of one that is yet to be made begins with; no id does."""
MOST_MADE, MOST_NAMED = 50, 1_000
"""Topologies that one definition may bring along, and that one list may name."""
LOOKED_AT = 20
"""Kept topologies of the same kind, size and seed that are compared link by link."""


class References:
    """The ids that a definition means, and the documents behind them."""

    def __init__(self, engine: Any = LIVE) -> None:
        self._engine = engine if isinstance(engine, str) else LIVE
        self._objects: dict[str, dict[str, Any]] = {}
        self._documents: dict[str, dict[str, Any] | None] = {}

    @property
    def to_make(self) -> list[str]:
        """Names of the topologies that are yet to be made."""
        return [_name(value) for value in self._objects.values()]

    def resolved(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """``body`` with an id, or a word in place of one, wherever it names a topology. Raises ``InvalidSetting``."""
        return _replaced(body, self._id)

    def kept(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """``body`` with ids of those that are kept, and objects for those that are not. Raises ``InvalidSetting``."""
        resolved = self.resolved(body)
        return _replaced(resolved, lambda field, value: self._objects.get(value, value) if _is_word(value) else value)

    def find(self, topology_id: str) -> dict[str, Any] | None:
        """The document of a topology, read once."""
        if topology_id not in self._documents:
            kept = Topology.objects.filter(pk=topology_id).first()
            self._documents[topology_id] = topologies.document(kept) if kept else None
        return self._documents[topology_id]

    def made(self, body: Mapping[str, Any], owner: User | None) -> dict[str, Any]:
        """What ``resolved`` gave, with the ids of topologies that were made now. Raises ``InvalidSetting``."""
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
            raise InvalidSetting(field, f"is one too many: at most {MOST_MADE} new topologies come with a definition")
        self._objects[word] = value
        self._documents[word] = document
        return word


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(MADE)


def _replaced(body: Mapping[str, Any], instead: Callable[[str, Any], Any]) -> dict[str, Any]:
    """``body`` with ``instead(field, value)`` for every topology in it."""

    def of(field: str, value: Any) -> Any:
        if isinstance(value, list):
            if len(value) > MOST_NAMED:
                raise InvalidSetting(field, f"has {len(value):,} topologies; at most {MOST_NAMED:,} can be named")
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
    """The ids of topologies in a definition of which there is none any more."""
    ids: list[str] = []

    def note(field: str, value: str) -> str:
        ids.append(value)
        return value

    _replaced(definition, note)
    there = set(Topology.objects.filter(pk__in=ids).values_list("pk", flat=True))
    return [one for one in dict.fromkeys(ids) if one not in there]


def drawn(field: str, value: Mapping[str, Any], engine: str = LIVE) -> dict[str, Any]:
    """The document of what an object makes. Raises ``InvalidSetting`` of ``field``."""
    brokers = value.get("brokers")
    if isinstance(brokers, int) and brokers > settings.MAX_BROKERS:
        raise InvalidSetting(
            f"{field}.brokers",
            f"has {brokers:,} brokers; here a topology has at most {settings.MAX_BROKERS:,}. "
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
    """A form asks with every key that is typed, and a large Waxman graph takes seconds."""
    body, find = inline.separated({"topology": json.loads(value), "engine": engine})
    document = find(body["topology"])
    assert document is not None
    return document


def _like(value: Mapping[str, Any], document: Mapping[str, Any]) -> Topology | None:
    """A kept topology with the same links, the one of the same name first."""
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
    """As it is called, or "Waxman of 100"."""
    row = topologies.kinds().get(value["kind"])
    title = row.title if row else str(value["kind"])
    made = title if value["brokers"] == 1 else f"{title} of {value['brokers']}"
    return checked_name("topology.name", value.get("name") or made[:MAX_NAME])


def name_of(value: Any) -> str:
    """What a form calls a topology that is yet to be made."""
    can_be_said = isinstance(value, dict) and isinstance(value.get("kind"), str) and "brokers" in value
    return _name(value) if can_be_said else "a topology"


def carried(document: Mapping[str, Any]) -> dict[str, Any]:
    """What makes the topology that a configuration says in full, for those who have no place to look it up.

    A few words where its generator draws the same links again, else the links themselves.
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
    """Whether what is said draws these links."""
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
