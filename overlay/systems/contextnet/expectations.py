"""Estimated quantities of a run. Pure."""

from __future__ import annotations

from math import ceil

from overlay.load.expectations import FLEET_SIZE, Expected, Kept, Recorded
from overlay.systems.contextnet.load.times import schedule
from overlay.systems.contextnet.settings import Settings
from overlay.systems.contextnet.workload import Workload

MESSAGE = 2.5
"""Work of a message with its answer, over the gateway and the log, relative to a client's exchange with its server."""
KEPT_ALIVE = 0.25
"""The same of a ping and its answer."""
HEADERS = 120
"""Bytes of a message's datagrams and of the recording."""
CONNECTION_BYTES = 2_500
"""Memory of a connection at its gateway."""


def expected(settings: Settings, workload: Workload) -> Expected:
    times = schedule(settings, workload)
    seconds = times.ramp_s + times.duration_s
    directions = workload.is_inbound + workload.is_outbound
    messages = float(workload.nodes * workload.count * directions)
    pings = workload.nodes * seconds / settings.ping_period_s
    outages = workload.disconnecting * seconds / (workload.on_s + workload.off_s)
    servers = workload.gateways + 1 + settings.mtd_enabled + workload.definers + settings.mqtt_proxies
    applications = workload.application_count
    size = 2 * (workload.payload_bytes + workload.context_bytes + HEADERS)
    return Expected(
        servers=servers,
        clients={"nodes": workload.nodes, "brokers": applications},
        processes=servers + applications + ceil(workload.nodes / FLEET_SIZE),
        seconds=seconds,
        exchanges=messages * MESSAGE + pings * KEPT_ALIVE + workload.nodes + outages,
        samples=messages + outages,
        records=8 * messages + 2 * pings,
        recorded=(Recorded(messages * size + pings * HEADERS, workload.gateways),),
        kept=Kept("nodes", workload.nodes, CONNECTION_BYTES),
    )
