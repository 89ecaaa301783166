"""The uplink that ``uplink_share`` sets: what this load needs at one message a push with gzip, divided by the share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from overlay.systems.radiator.accounting import push_bytes
from overlay.systems.radiator.chains.blobs import Place, chain_blob
from overlay.systems.radiator.chains.cutting import chain_length
from overlay.systems.radiator.config import GIB
from overlay.systems.radiator.load.contents import Contents
from overlay.systems.radiator.load.population import Population, client_id, population
from overlay.systems.radiator.load.turns import turns
from overlay.systems.radiator.settings import Settings
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.codec import encode
from overlay.systems.radiator.wire.compression import GZIP, deflate
from overlay.systems.radiator.workload import Workload

SAMPLED = 100
"""Messages whose pushes are counted."""
HEADER = len(encode(m.Push(0, 0, 0, 0, 1, 0, 0, 0, 1, bytes(8), b"")))
"""Bytes of a push before its part of the blob."""
SERVER, FIRST_PORT, PORTS = ("127.0.0.1", 40_000), 40_001, 20_000
SOME_MS = 1_700_000_000_000
"""An instant for the sampled messages: all have as many digits."""


@lru_cache(maxsize=32)
def uplink_bytes_per_s(settings: Settings, workload: Workload, seed: int) -> int:
    """Bytes per second, by ``settings.accounting``. Every client is registered."""
    people = population(workload, settings.scenario, seed)
    contents, order = Contents(workload, settings.scenario, people, seed), turns(workload, seed)
    total = 0
    for message in range(SAMPLED):
        sender = order.sender(message)
        body = contents.message(sender, message // workload.clients, SOME_MS)
        blobs = _blobs(settings, workload, people, sender, body)
        total += sum(times * _push_bytes(settings, blob) for blob, times in blobs)
    needed = round(total / SAMPLED * workload.messages_per_s / settings.uplink_share)
    return min(max(1, needed), 4 * GIB)


def _blobs(
    settings: Settings, workload: Workload, people: Population, sender: int, body: bytes
) -> Iterator[tuple[bytes, int]]:
    """The blobs of all pushes of a message, compressed, and how often each is pushed; chains in order of the table."""
    recipients = [number for number in range(workload.clients) if settings.echo or number != sender]
    is_chained = settings.uplink_share_of == "chained" and settings.chain_percent > 0
    chained = [number for number in recipients if is_chained and people.is_p2p(number)]
    yield deflate(body, GZIP), len(recipients) - len(chained)
    accepting = sum(map(people.is_p2p, range(workload.clients)))
    base = accepting if settings.chain_base == "clients" else len(chained)
    length = chain_length(settings.chain_percent, base)
    for at in range(0, len(chained), length):
        yield deflate(chain_blob(places(chained[at : at + length]), SERVER, body), GZIP), 1


def places(numbers: Sequence[int]) -> list[Place]:
    """Clients as members of a chain, at addresses of one host."""
    return [Place("127.0.0.1", FIRST_PORT + number % PORTS, client_id(number)) for number in numbers]


def _push_bytes(settings: Settings, blob: bytes) -> int:
    size = settings.segment_bytes
    parts = [min(size, len(blob) - at) for at in range(0, max(1, len(blob)), size)]
    return sum(
        push_bytes(settings.accounting, HEADER + part, part, len(blob), segment, is_repeat=False)
        for segment, part in enumerate(parts)
    )
