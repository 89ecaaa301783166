"""Figures of each role of servers and of clients, where a sum or mean over all would mix them. Pure.

A run of one role has none of these: the figures of all are those of the role. A measure has such a path:
``("servers", "relay", "memory", "rss_bytes")``, ``("clients", "listener", "deliveries", "delay_us", "p95")``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from overlay.core.processes import role_of
from overlay.systems.contract import System
from telemetry.lake.records import SOME
from telemetry.summary import exchanges, processes
from telemetry.summary import of_clients as facts_of_clients
from telemetry.summary.processes import Servers


def of_servers(
    servers: Servers, memory: Sequence[Mapping[str, Any]], cores: Mapping[str, float]
) -> dict[str, dict[str, Any]]:
    """``servers``: the mean memory and the busy cores of each role, from those by server and by process."""
    roles = servers.system.role_names
    if len(roles) < 2:
        return {}
    return {"servers": {role: _of_servers(servers, role, memory, cores) for role in roles}}


def _of_servers(
    servers: Servers, role: str, memory: Sequence[Mapping[str, Any]], cores: Mapping[str, float]
) -> dict[str, Any]:
    used = [share for process, share in cores.items() if servers.has(process) and role_of(process) == role]
    return {
        "memory": processes.mean_memory([row for row in memory if role_of(servers.name(row["index"])) == role]),
        "cores_used": sum(used) if used else None,
    }


def of_clients(system: System, tables: Mapping[str, pa.Table], duration_us: int) -> dict[str, dict[str, Any]]:
    """``clients``: the exchanges of each role where several request or update, and the deliveries, connections and
    hand-overs of each where several have them."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for roles in (system.asking_roles, system.updating_roles):
        for role in roles if len(roles) > 1 else ():
            found[role] |= exchanges.summed(exchanges.of_roles(tables["samples"], [role]), duration_us)
    for name in SOME:
        roles = tuple(pc.unique(tables[name]["role"]).to_pylist())
        for role in roles if len(roles) > 1 else ():
            of_role = tables[name].filter(pc.equal(tables[name]["role"], role))
            found[role] |= facts_of_clients.summarised({name: of_role}, duration_us)
    return {"clients": dict(found)} if found else {}
