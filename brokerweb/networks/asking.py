"""Brokers of a network that stays up, asked by their own protocol: what they counted, and whom one of them knows.

Counterpart: ``telemetry.systems.context_broker.brokers`` tells the same of a broker that keeps a journal. A network
keeps none, which would grow for ever; and nothing is measured there that a question could disturb.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from brokerweb.networks.models import UP, Network
from overlay.core.addresses import Address, format_address, parse_address
from overlay.core.errors import WireError
from overlay.journal.facts import GAUGES
from overlay.runtime.client import ContextClient, NoAnswer, Refused
from overlay.runtime.datagrams import MAX_DATAGRAM_BYTES
from overlay.systems.context_broker.broker.messages import StatsRequest, StatsResponse
from overlay.systems.context_broker.broker.wire import encode, parse

DEADLINE_S = 0.5
"""For both questions: who looks at a broker that is gone waits no longer."""
AT_ONCE = 64
"""Brokers that are asked before their answers are read: those of more would not fit into the kernel's buffer."""
SILENCE_S = 0.2
"""So long the answers of so many are waited for: a broker on this host needs a millisecond."""
_OF_ITS_CLOCK = "uptime"


def statistics_of(brokers: Mapping[int, Address]) -> dict[int, dict[str, int]]:
    """What each broker counted and has, by index; those that do not answer in time are left out."""
    said: dict[int, dict[str, int]] = {}
    waiting, end = iter(brokers.items()), time.monotonic() + DEADLINE_S
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        while time.monotonic() < end and (some := dict(islice(waiting, AT_ONCE))):
            question = encode(StatsRequest(time.time_ns() // 1_000_000))
            for address in some.values():
                try:
                    sock.sendto(question, address)
                except OSError:  # no route to it, or no address of this family
                    continue
            indices = {address: index for index, address in some.items()}
            for source, counters in _answers(sock, len(indices), min(end, time.monotonic() + SILENCE_S)):
                if source in indices:
                    said[indices[source]] = counters
    return said


def _answers(sock: socket.socket, most: int, until: float) -> Iterator[tuple[Address, dict[str, int]]]:
    """The statistics that come, ``most`` of them at most."""
    while most and (left_s := until - time.monotonic()) > 0:
        sock.settimeout(left_s)
        try:
            data, source = sock.recvfrom(MAX_DATAGRAM_BYTES)
            message = parse(data)
        except TimeoutError:
            return
        except (OSError, WireError):
            continue
        if isinstance(message, StatsResponse):
            most -= 1
            yield (source[0], source[1]), dict(message.counters)


def own_words(network: Network, index: int) -> dict[str, Any] | None:
    """What it says of itself, as ``BrokerWindow.advance`` tells it; ``None`` where it is not up or does not answer."""
    row = next((row for row in network.brokers if row["index"] == index and row["state"] == "up"), None)
    if row is None or network.state not in UP:
        return None
    client = ContextClient([parse_address(row["address"])], DEADLINE_S)
    try:
        said, neighbours = client.statistics(), [format_address(one) for one in client.neighbors()]
    except (NoAnswer, Refused):
        return None
    names = {one["address"]: one["index"] for one in network.brokers if one.get("address")}
    return {
        "index": index,
        "address": row["address"],
        "lives": row.get("restarts", 0) + 1,
        "asked": True,
        "t_s": said.get(_OF_ITS_CLOCK, 0) / 1000,
        "as_of_unix_us": time.time_ns() // 1000,
        "counters": {
            name: count
            for name, count in sorted(said.items())
            if count and name not in GAUGES and name != _OF_ITS_CLOCK
        },
        "gauges": {name: count for name, count in sorted(said.items()) if name in GAUGES},
        "neighbours": [
            {"index": names.get(address), "address": address, "state": "joined", "since_s": None}
            for address in sorted(neighbours, key=lambda one: (names.get(one, len(names)), one))
        ],
        "steps": [],
        "messages": [],
        "entries": [],
        "held": None,
    }
