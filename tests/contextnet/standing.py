"""A network of ContextNet that stays up while a test runs: its servers in threads, with sockets and a real log."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from overlay.core.addresses import Address, format_address
from overlay.programs.contextnet.logs import NetworkLog, find
from overlay.programs.networks import NoSuchNetwork
from overlay.runtime.logs.engines import engine_at
from overlay.runtime.logs.port import LogPort
from overlay.runtime.server_process import ServerProcess
from overlay.systems.contextnet.keys import network_secret, node_secret
from overlay.systems.contextnet.system import SYSTEM
from overlay.systems.roles import server_names
from tests.waiting import BOUND_S, wait_for

QUICK = {"round_s": 1, "load_report_s": 1, "list_s": 1, "member_timeout_s": 0.5}
"""So that a list of gateways comes soon."""


@dataclass
class Standing:
    log: NetworkLog
    names: tuple[str, ...]
    addresses: tuple[Address, ...]
    settings: dict[str, Any]
    own: bytes
    """Its secret."""

    @property
    def gateways(self) -> tuple[Address, ...]:
        return tuple(at for name, at in zip(self.names, self.addresses, strict=True) if name.startswith("gateway"))

    @property
    def gateway(self) -> str:
        return format_address(self.gateways[0])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """As a supervisor observes them."""
        return [
            {"index": index, "name": name, "address": format_address(address), "state": "up", "reason": "", "pid": None}
            for index, (name, address) in enumerate(zip(self.names, self.addresses, strict=True))
        ]

    def secret(self, node: bytes) -> bytes:
        return node_secret(self.own, node)


@contextmanager
def standing(url: str, network: str = "n1", secret: bytes = b"", **settings: Any) -> Iterator[Standing]:
    settings = {**QUICK, **settings}
    graph = SYSTEM.default_topology(SYSTEM.read_settings(settings), None)
    setup = SYSTEM.setup(settings, None, graph, secret=secret)
    config, spec = SYSTEM.config_of(setup), SYSTEM.log_of(setup)
    assert spec is not None
    names = server_names(SYSTEM.roles(setup))
    addresses = _free(len(names))

    def open_log(name: str, node: Any) -> LogPort:
        return engine_at(url).open(spec, network, name, node)

    served = [
        ServerProcess(
            SYSTEM, config, at, index=index, servers=addresses, seed=index, process=names[index], open_log=open_log
        )
        for index, at in enumerate(addresses)
    ]
    threads = [threading.Thread(target=one.run, args=(lambda address: None,), daemon=True) for one in served]
    for thread in threads:
        thread.start()
    try:
        wait_for(lambda: _is_in(url, network), "a gateway reads the network's log, by which clients find it")
        yield Standing(
            NetworkLog(url, network, setup.settings.partitions), names, addresses, settings, secret or network_secret(0)
        )
    finally:
        for one in served:
            one.stop()
        for thread in threads:
            thread.join(BOUND_S)


def _is_in(url: str, network: str) -> bool:
    try:
        find(url, network)
    except NoSuchNetwork:
        return False
    return True


def _free(count: int) -> tuple[Address, ...]:
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    addresses = tuple(one.getsockname() for one in sockets)
    for one in sockets:
        one.close()
    return addresses
