"""The walk of one query through a network: what its brokers traced of it, found in their small files.

Counterparts: ``networks.tracefiles`` knows where in these files it is; ``networks.context`` asks so that every
broker traces the query. Known on the machine that has the network's directory, and for as long as the files reach back.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings

from brokerweb.kit.following import Following
from brokerweb.networks.models import Network
from brokerweb.systems.context_broker.queries import told
from brokerweb.systems.context_broker.queries.trace_files import TraceFiles
from overlay.core.addresses import format_address
from overlay.journal.facts import Start
from overlay.programs.context_broker.client import QueryName
from overlay.systems.registry import SYSTEMS
from telemetry.systems.context_broker.sequence import Sequence, sequence_of
from telemetry.systems.context_broker.traces import Gathered, Query, id_of

KEPT = 4
"""Networks whose files are known at a time: 20 MB each where they have 1,000 brokers."""

_networks: Following[str, TraceFiles] = Following(KEPT)


def traced_one_in(network: Network) -> int:
    """Its brokers trace one query in so many; 0 for none."""
    return int(_settings(network).get("trace_one_in") or 0)


def trace_of(query: QueryName, key: tuple[str, str, str]) -> str:
    """The id under which the walk of a query is found."""
    return id_of((format_address(query.consumer), query.timestamp, "|".join(key)))


def find(network: Network, trace: str) -> dict[str, Any] | None:
    """One walk, whole; ``None`` while no broker has reported anything of it."""
    found = drawn(network, trace)
    return found[0] if found else None


def drawn(network: Network, trace: str) -> tuple[dict[str, Any], Sequence] | None:
    """The same, and what its sequence diagram shows."""
    query = _query(network, trace)
    if query is None:
        return None
    hops = told.most_hops(_settings(network), network.deployed["brokers"])
    return told.told(query, hops), sequence_of(query)


def _query(network: Network, trace: str) -> Query | None:
    directory = Path(settings.VAR, "networks", network.pk, "traces")
    gathered = Gathered()
    for fact in _networks.look(network.pk, TraceFiles, lambda files: files.facts(directory, trace)):
        if isinstance(fact, Start):
            gathered.add_start(fact)
        elif id_of((fact.consumer, fact.timestamp_ms, fact.entity)) == trace:
            gathered.add(fact)
    for row in network.brokers:  # one that reported nothing yet is a broker all the same, of which something is missing
        gathered.add_start(Start(f"broker-{row['index']}", 0, 0, "", row.get("address") or ""))
    return next(iter(gathered.queries()), None)


def _settings(network: Network) -> dict[str, Any]:
    return SYSTEMS[network.system].whole(network.settings)
