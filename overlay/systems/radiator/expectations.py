"""Estimated quantities of a run. Pure."""

from __future__ import annotations

from math import ceil

from overlay.core.errors import InvalidSetting
from overlay.load.expectations import FLEET_SIZE, Expected, Kept, Recorded
from overlay.systems.radiator.language.aggregability import constant_threshold
from overlay.systems.radiator.settings import Settings
from overlay.systems.radiator.workload import Workload

PUSHED = 0.5
"""Work of a push and its acknowledgement, relative to a client's exchange with the server: four events of eight."""
COMPRESSED = {"none": 1.0, "gzip": 0.5, "dictionary": 0.25}
"""Size of a compressed message, relative to its JSON."""
HEADERS = 120
"""Bytes of a push and its acknowledgement without the blob, and of the recording."""
TRACED_BYTES = 8
"""In journals, of each recipient of a traced message: its number in a queue and in a chain, with steps."""
RETAINED_BYTES = 2_000
"""Memory of a retained message, without its text."""


def expected(settings: Settings, workload: Workload) -> Expected:
    clients, messages = workload.clients, workload.messages
    volume = _volume(settings)
    audience = min(workload.audience or clients, clients)
    pushes = messages * audience / volume
    of_server = pushes
    if settings.chain_percent:
        length = max(1.0, settings.chain_percent / 100 * clients)
        of_server = pushes * (1 - workload.p2p_share) + pushes * workload.p2p_share / length
    size = (workload.bytes_low + workload.bytes_high) / 2 * COMPRESSED[settings.codec]
    traced = messages / settings.trace_one_in if settings.trace_one_in else 0.0
    data = messages * (size + HEADERS) + of_server * (size * volume + HEADERS)
    return Expected(
        servers=1,
        clients={"clients": clients},
        processes=1 + ceil(clients / FLEET_SIZE),
        seconds=workload.ramp_s() + workload.duration_s,
        exchanges=messages + clients + PUSHED * pushes,
        samples=messages + pushes,
        records=2 * messages + 4 * clients + 2 * of_server,
        recorded=(Recorded(data, 1),),
        trace_bytes=traced * audience * TRACED_BYTES,
        kept=Kept("clients", min(clients, settings.retained_max), RETAINED_BYTES),
    )


def _volume(settings: Settings) -> int:
    """Messages in an aggregate, if the aggregability is a constant volume."""
    try:
        kind, value = constant_threshold(settings.aggregability_text)
    except InvalidSetting:
        return 1
    return value if kind == "volume" else 1
