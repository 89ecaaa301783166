"""Who uses a topology: the experiments that name it, the runs and networks that have a copy of one of its versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from django.db.models import Q, QuerySet

from brokerweb.topologies.models import Topology


@dataclass(frozen=True)
class Uses:
    """Of one topology."""

    experiments: int
    networks: int
    runs: dict[int | None, int]
    """Runs by the version they have; ``None`` for those that were launched before versions were kept."""

    @property
    def runs_in_all(self) -> int:
        return sum(self.runs.values())


class Users(Protocol):
    """Whoever names topologies in documents of its own, without a row that points here."""

    def experiments_by_topology(self) -> Counter[str]:
        """How many experiments name each topology, by its id."""
        ...

    def of(self, topology: Topology) -> tuple[int, dict[int | None, int]]:
        """How many experiments name ``topology``, and how many runs have which version of it."""
        ...


USERS: list[Users] = []
"""The app of experiments adds itself when it is ready: it is above this one."""


def experiments_by_topology() -> Counter[str]:
    """How many experiments name each topology, by its id."""
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
    """Those of a definition's topologies that may not be whole: ``parts`` knows whether they are."""
    named = named_in(definition.get("topology"), definition.get("blocks"))
    questionable = Q(measures__components__gt=1) | Q(links__loss__gte=1)
    return Topology.objects.filter(questionable, pk__in=named).distinct()


def named_in(topology: Any, blocks: Any) -> set[str]:
    """The ids that a definition names; its blocks may have topologies of their own."""
    given = [topology, *(block.get("topology") for block in blocks or () if isinstance(block, dict))]
    return set(_flat(given))


def _flat(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, list):
            yield from _flat(value)
        elif isinstance(value, str):
            yield value
