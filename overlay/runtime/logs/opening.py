"""Opens the log of a deployment for one of its nodes, and erases it at its end."""

from __future__ import annotations

import os
from typing import Any

from overlay.deployment.deployment import Deployment
from overlay.log.spec import VALKEY, LogSpec
from overlay.runtime.logs.connection import Engine
from overlay.runtime.logs.instance import VARIABLE, erase
from overlay.runtime.logs.port import LogPort
from overlay.runtime.redis_server import NoEngine
from overlay.runtime.server_process import OpenLog


def opener(deployment: Deployment) -> OpenLog | None:
    """``None`` if its system has no log. Raises ``WaxwingError`` if there is no engine for it."""
    spec = deployment.system.log_of(deployment.setup)
    if spec is None:
        return None
    if spec.engine != VALKEY:
        raise NoEngine(f"the engine {spec.engine} cannot run live here; choose {VALKEY}.")
    if any(fault.is_of_log for fault in deployment.faults):
        raise NoEngine("faults of the log can be simulated only.")
    url = _url(spec)
    if not url:
        raise NoEngine(f"there is no engine for the log. Set {VARIABLE}=redis://:password@host:port/0 and start again.")
    Engine.of(url)

    def open_log(name: str, node: Any) -> LogPort:
        from overlay.runtime.logs.valkey import ValkeyLog

        return ValkeyLog(spec, url, deployment.id, name, node)

    return open_log


def erase_log(deployment: Deployment) -> None:
    """Delete its records, when none of its nodes runs any more. Raises ``OSError`` or ``WaxwingError`` if the engine is
    away."""
    spec = deployment.system.log_of(deployment.setup)
    if spec is not None and spec.engine == VALKEY and (url := _url(spec)):
        erase(url, deployment.id)


def _url(spec: LogSpec) -> str:
    return spec.servers or os.environ.get(VARIABLE, "")
