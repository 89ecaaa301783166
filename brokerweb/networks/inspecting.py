"""Servers of a network that answer questions of operators (``overlay.programs.inspection``), asked one by one, for
pages and REST."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.networks.models import UP, Network
from overlay.core.addresses import parse_address
from overlay.programs.inspection import Inspector, NotInspected
from overlay.programs.questions import NoAnswer

DEADLINE_S = 0.5
"""For a server that is gone; on this host, one that is busy needs some tens of milliseconds."""
Asking = TypeVar("Asking", bound=Inspector)


def addresses(network: Network) -> dict[int, str]:
    """Of all servers that run, by index."""
    if network.state not in UP:
        return {}
    return {row["index"]: row["address"] for row in network.brokers if row["state"] == "up" and row.get("address")}


@contextmanager
def asked(kind: type[Asking], network: Network, index: int) -> Iterator[Asking]:
    """Raises ``NotAnswered``; ``NotPossible`` if the server does not run, or answers only programs elsewhere."""
    address = addresses(network).get(index)
    if address is None:
        raise NotPossible(f"Server {index} of this network does not run.")
    with asked_at(kind, address) as server:
        yield server


@contextmanager
def asked_at(kind: type[Asking], address: str) -> Iterator[Asking]:
    try:
        with kind(parse_address(address), DEADLINE_S) as server:
            yield server
    except NoAnswer as error:
        raise NotAnswered(str(error)) from None
    except NotInspected as error:
        raise NotPossible(str(error)) from None


def own_words(
    network: Network,
    index: int,
    figures: Mapping[str, int],
    gauges: frozenset[str],
    neighbours: Sequence[Mapping[str, Any]],
    **more: Any,
) -> dict[str, Any]:
    """What a server has answered, as ``Web.server_of_network`` wants its ``own``. ``figures`` are counters and gauges;
    ``neighbours`` have ``index``, ``address`` and ``state``."""
    row = next(row for row in network.brokers if row["index"] == index)
    known = [(name, count) for name, count in sorted(figures.items()) if count or name in gauges]
    return {
        "index": index,
        "address": addresses(network).get(index, ""),
        "lives": row.get("restarts", 0) + 1,
        "asked": True,
        "t_s": max(0.0, time.time() - row["since_unix_ms"] / 1000),
        "as_of_unix_us": time.time_ns() // 1000,
        "counters": {name: count for name, count in known if name not in gauges},
        "gauges": {name: count for name, count in known if name in gauges},
        "neighbours": [{"since_s": None, **one} for one in neighbours],
        "steps": [],
        "messages": [],
        "entries": [],
        "held": None,
        **more,
    }
