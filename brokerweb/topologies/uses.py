"""Uses of a topology: experiments that name it, and runs and networks with a copy of a version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from django.db.models import Q, QuerySet

from brokerweb.topologies.models import Topology


@dataclass(frozen=True)
class Uses:
    """Uses of one topology."""

    experiments: int
    networks: int
    runs: dict[int | None, int]
    """Runs by version; ``None`` for runs from before versions were stored."""

    @property
    def runs_in_all(self) -> int:
        return sum(self.runs.values())


class Users(Protocol):
    """An app that names topologies in documents, without a foreign key."""

    def experiments_by_topology(self) -> Counter[str]:
        """Number of experiments by topology id."""
        ...

    def of(self, topology: Topology) -> tuple[int, dict[int | None, int]]:
        """Number of experiments that name ``topology``, and of runs by version."""
        ...


USERS: list[Users] = []
"""The experiments app, which depends on this one, registers itself when ready."""


def experiments_by_topology() -> Counter[str]:
    """Number of experiments by topology id."""
    return sum((users.experiments_by_topology() for users in USERS), Counter())


def of(topology: Topology) -> Uses:
    experiments, runs = 0, Counter[int | None]()
    for users in USERS:
        naming, versions = users.of(topology)
        experiments += naming
        runs.update(versions)
    return Uses(experiments, topology.networks.count(), dict(runs))


def versions_in_use(topology: Topology) -> set[int]:
    """Versions that a run or a network has a copy of."""
    deployed = topology.networks.values_list("deployed__version", flat=True)
    return {number for number in (*of(topology).runs, *deployed) if number is not None}


def in_parts(definition: Mapping[str, Any]) -> QuerySet[Topology]:
    """Topologies of a definition that may be disconnected, according to ``parts``."""
    named = named_in(definition.get("topology"), definition.get("blocks"))
    questionable = Q(measures__components__gt=1) | Q(links__loss__gte=1)
    return Topology.objects.filter(questionable, pk__in=named).distinct()


def named_in(topology: Any, blocks: Any) -> set[str]:
    """Topology ids in a definition, including its blocks."""
    given = [topology, *(block.get("topology") for block in blocks or () if isinstance(block, dict))]
    return set(_flat(given))


def _flat(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, list):
            yield from _flat(value)
        elif isinstance(value, str):
            yield value
