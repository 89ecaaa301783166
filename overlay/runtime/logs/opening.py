"""Opens the log of a deployment for one of its nodes; at its end, says what is left in it, and erases it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from overlay.deployment.deployment import Deployment
from overlay.faults.faults import Fault
from overlay.log.topics import Record
from overlay.runtime.link_faults import SharedFaults
from overlay.runtime.logs.engines import engine_at, url_for
from overlay.runtime.logs.port import LogPort
from overlay.runtime.redis_server import NoEngine
from overlay.runtime.server_process import OpenLog


def opener(deployment: Deployment, faults: SharedFaults | None) -> OpenLog | None:
    """``faults`` are those of the deployment, if it has any. ``None`` if its system has no log. Raises ``WaxwingError``
    if there is no engine for it."""
    spec = deployment.system.log_of(deployment.setup)
    if spec is None:
        return None
    engine = engine_at(url_for(spec))

    def open_log(name: str, node: Any) -> LogPort:
        log = engine.open(spec, deployment.id, name, node)
        return log if faults is None else _faulted(log, name, faults, deployment.server_names)

    return open_log


def _faulted(log: LogPort, name: str, faults: SharedFaults, servers: Sequence[str]) -> LogPort:
    """With those faults of the log that a server or client of this name sees."""
    from overlay.runtime.logs.faulted import FaultedLog
    from overlay.runtime.own_faults import Watcher

    def is_mine(fault: Fault) -> bool:
        targets = {*(servers[index] for index in fault.servers), *fault.clients}
        return fault.is_of_log and (not targets or name in targets)

    watcher = Watcher(faults, is_mine)
    return FaultedLog(log, watcher) if watcher else log


def uncommitted(deployment: Deployment) -> Iterator[Record]:
    """The records that some reader had not committed, when none of its nodes runs any more. Raises ``OSError`` or
    ``WaxwingError`` if the engine is away."""
    spec = deployment.system.log_of(deployment.setup)
    if spec is not None:
        with suppress(NoEngine):  # which has no records
            yield from engine_at(url_for(spec)).uncommitted(deployment.id)


def erase_log(deployment: Deployment) -> None:
    """Delete its records, when none of its nodes runs any more. Raises ``OSError`` or ``WaxwingError`` if the engine is
    away."""
    spec = deployment.system.log_of(deployment.setup)
    if spec is None:
        return
    try:
        url = url_for(spec)
    except NoEngine:  # so that it has no records
        return
    engine_at(url).erase(deployment.id)
