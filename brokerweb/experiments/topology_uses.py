"""Experiments and runs that use a topology. Counterpart: ``brokerweb.topologies.uses`` queries it."""

from __future__ import annotations

from collections import Counter

from django.db.models import Count

from brokerweb.experiments.models import Experiment, Run
from brokerweb.topologies.models import Topology
from brokerweb.topologies.uses import named_in

_NAMING = ("definition__topology", "definition__blocks")


class ExperimentsAndRuns:
    """Implements ``uses.Users``."""

    def experiments_by_topology(self) -> Counter[str]:
        return Counter(one for row in Experiment.objects.order_by().values_list(*_NAMING) for one in named_in(*row))

    def of(self, topology: Topology) -> tuple[int, dict[int | None, int]]:
        rows = Experiment.objects.order_by().values_list("pk", *_NAMING)
        naming = [pk for pk, *row in rows if topology.pk in named_in(*row)]
        runs = Run.objects.order_by().filter(experiment__in=naming, configuration__topology__id=topology.pk)
        return len(naming), dict(runs.values_list("configuration__topology__version").annotate(Count("pk")))
