"""Predefined experiments: definitions in ``docs/examples`` with a purpose.

A preset includes its topologies, so it works in an empty installation; ``python -m telemetry sweep`` accepts the same
files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.conf import settings

from brokerweb.definitions import documents
from overlay.core.engines import LIVE
from overlay.experiment import sweeps

DIRECTORY = settings.BASE_DIR / "docs" / "examples"


def configurations_of(definition: Mapping[str, Any]) -> int:
    """Of one with its topologies inline, at most: a configuration that two blocks name counts twice."""

    def named(value: Any) -> Any:
        """Texts for topologies, of which a sweep makes no more than names."""
        return [str(one) for one in value] if isinstance(value, list) else str(value)

    def counted(part: Mapping[str, Any]) -> dict[str, Any]:
        return {**part, "topology": named(part["topology"])} if "topology" in part else dict(part)

    blocks = [counted(block) for block in definition.get("blocks", [])]
    return len(sweeps.choices({**counted(definition), "blocks": blocks}))


@dataclass(frozen=True)
class Preset:
    """A file and its card."""

    name: str
    title: str
    summary: str
    """What it asks, and what it costs on top of what its card says."""

    @cached_property
    def text(self) -> str:
        """The file, including comments."""
        return (DIRECTORY / f"{self.name}.yaml").read_text()

    @cached_property
    def definition(self) -> dict[str, Any]:
        """The parsed definition; read-only."""
        return documents.read(self.text)

    @property
    def engine(self) -> str:
        return str(self.definition.get("engine", LIVE))

    @cached_property
    def configurations(self) -> int:
        """At most: a configuration that two blocks name counts twice."""
        return configurations_of(self.definition)

    @property
    def runs(self) -> int:
        return self.configurations * int(self.definition.get("replicates", 1))


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("quick-look", "A quick look", "Ten live brokers for half a minute: a quick check of the installation."),
        Preset(
            "fire-watch",
            "Fire watch",
            "The paper's scenario: 500 measuring stations and 500 fire departments on 100, 200 and 400 brokers.",
        ),
        Preset(
            "rare-data",
            "Rare data",
            "One broker in a hundred has the requested data. Four walk policies compared by success and hops.",
        ),
        Preset(
            "search-compared",
            "Search strategies compared",
            "Walks, floods, rings and a hash table for data at two brokers in a hundred: time and messages.",
        ),
        Preset(
            "replicas-compared",
            "Replicas compared",
            "Placement and refresh of replicas: response time and freshness of answers.",
        ),
        Preset(
            "radiator-first-look",
            "Radiator: a first look",
            "100 live clients for 15 seconds: everyone receives every message, in aggregates, along chains of five.",
        ),
        Preset(
            "radiator-scenarios",
            "Radiator: all scenarios",
            "The six scenarios of the paper, with deadlines and without: what is delivered, and when.",
        ),
        Preset(
            "radiator-faults",
            "Radiator: faults",
            "Chains with loss, crashed clients and a restart of the server.",
        ),
        Preset(
            "radiator-live",
            "Radiator: volumes live",
            "Compression and aggregation over real UDP with 200 clients: 5,000 pushes a second in the first block.",
        ),
        Preset(
            "radiator-blocked-callers",
            "Radiator: blocked callers",
            "Another reading of the paper: each message has one recipient, and 6,000 callers wait for their turns.",
        ),
        Preset(
            "radiator-published",
            "Radiator: 60,000 clients",
            "Chains at the published number of clients, at a rate at which everyone can receive: hours of computing.",
        ),
        Preset(
            "federation-first-look",
            "Federated brokers: a first look",
            "Two desktops and a phone in a chain, with a modelled service time: 500 queries to 12 providers.",
        ),
        Preset(
            "federation-faults",
            "Federated brokers: faults",
            "Clients and brokers vanish, a broker moves and another one is offline: which queries are not satisfied?",
        ),
        Preset(
            "silbops-first-look",
            "SilboPS: a first look",
            "Cameras publish, and 100 vehicles subscribe to those near them: a move sends a context, no subscription.",
        ),
        Preset(
            "contextnet-first-look",
            "ContextNet: a first look",
            "100 mobile nodes at two gateways, 30 of them off from time to time: what is stored until they return.",
        ),
    )
}
"""By name, in display order."""
