"""The walk of a query through a network, from its brokers' trace files.

Counterparts: ``trace_files`` indexes these files; ``context`` sends queries so that every broker traces them. Available
on the host with the network's directory, as long as the files reach back.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings

from brokerweb.kit.follower_cache import Following
from brokerweb.networks.models import Network
from brokerweb.networks.snapshot import NetworkSnapshot
from brokerweb.systems.context_broker.queries import timeline
from brokerweb.systems.context_broker.queries.trace_files import TraceFiles
from overlay.core.addresses import format_address
from overlay.journal.facts import Start
from overlay.programs.context_broker.client import QueryName
from overlay.systems.context_broker.broker.tracing import is_sampled
from overlay.systems.registry import SYSTEMS
from telemetry.charts.sequences import Sequence
from telemetry.systems.context_broker.sequence import sequence_of
from telemetry.systems.context_broker.traces import Gathered, Query, id_of

KEPT = 4
"""Maximum number of indexed networks: 20 MB each with 1,000 brokers."""

_networks: Following[str, TraceFiles] = Following(KEPT)


def traced_one_in(network: Network | NetworkSnapshot) -> int:
    """Brokers trace one query in this many; 0: none."""
    return int(_settings(network).get("trace_one_in") or 0)


def is_traced(query: QueryName, one_in: int) -> bool:
    """Whether brokers that trace one query in ``one_in`` trace this one."""
    return is_sampled(query.timestamp, query.consumer[1], one_in)


def trace_of(query: QueryName, key: tuple[str, str, str]) -> str:
    """The id of a query's walk."""
    return id_of((format_address(query.consumer), query.timestamp, "|".join(key)))


def find(network: Network, trace: str) -> dict[str, Any] | None:
    """One complete walk; ``None`` until a broker has reported it."""
    found = drawn(network, trace)
    return found[0] if found else None


def drawn(network: Network, trace: str) -> tuple[dict[str, Any], Sequence] | None:
    """The same with its sequence diagram."""
    query = _query(network, trace)
    if query is None:
        return None
    hops = timeline.most_hops(_settings(network), network.deployed["brokers"])
    return timeline.describe(query, hops), sequence_of(query)


def _query(network: Network, trace: str) -> Query | None:
    directory = Path(settings.VAR, "networks", network.pk, "traces")
    gathered = Gathered()
    for fact in _networks.look(network.pk, TraceFiles, lambda files: files.facts(directory, trace)):
        if isinstance(fact, Start):
            gathered.add_start(fact)
        elif id_of((fact.consumer, fact.timestamp_ms, fact.entity)) == trace:
            gathered.add(fact)
    for row in network.brokers:  # a broker without a report is still part of the walk, which is then incomplete
        gathered.add_start(Start(f"broker-{row['index']}", 0, 0, "", row.get("address") or ""))
    return next(iter(gathered.queries()), None)


def _settings(network: Network | NetworkSnapshot) -> dict[str, Any]:
    return SYSTEMS[network.system].whole(network.settings)
