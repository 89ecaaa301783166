"""Who uses a topology: the experiments that name it, the runs and networks that have a copy of one of its versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from brokerweb.experiments.models import Experiment, Run
from brokerweb.networks.models import Network
from brokerweb.topologies.models import Topology

_NAMING = ("definition__topology", "definition__blocks")


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


def experiments_by_topology() -> Counter[str]:
    """How many experiments name each topology, by its id."""
    return Counter(one for row in Experiment.objects.order_by().values_list(*_NAMING) for one in _named(*row))


def of(topology: Topology) -> Uses:
    naming = [
        pk for pk, *row in Experiment.objects.order_by().values_list("pk", *_NAMING) if topology.pk in _named(*row)
    ]
    rows = Run.objects.order_by().filter(experiment__in=naming, configuration__topology__id=topology.pk)
    counted = rows.values_list("configuration__topology__version").annotate(Count("pk"))
    return Uses(len(naming), topology.networks.count(), dict(counted))


def versions_in_use(topology: Topology) -> set[int]:
    """Versions that a run or a network has a copy of."""
    deployed = Network.objects.filter(topology=topology).values_list("deployed__version", flat=True)
    return {number for number in (*of(topology).runs, *deployed) if number is not None}


def in_parts(definition: Mapping[str, Any]) -> QuerySet[Topology]:
    """Those of a definition's topologies that may not be whole: ``parts`` knows whether they are."""
    named = _named(definition.get("topology"), definition.get("blocks"))
    questionable = Q(measures__components__gt=1) | Q(links__loss__gte=1)
    return Topology.objects.filter(questionable, pk__in=named).distinct()


def _named(topology: Any, blocks: Any) -> set[str]:
    """The ids that a definition names; its blocks may have topologies of their own."""
    given = [topology, *(block.get("topology") for block in blocks or () if isinstance(block, dict))]
    return set(_flat(given))


def _flat(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, list):
            yield from _flat(value)
        elif isinstance(value, str):
            yield value
