"""Runs a server for a moment in the supervisor, before the first fork.

Everything that a process does for the first time writes to its memory: modules are imported, bytecode is specialised,
caches of types and functions are filled. If this happens before the fork, the memory is shared: see ``docs/memory.md``.
"""

from __future__ import annotations

import socket
import traceback
from pathlib import Path
from time import monotonic_ns

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.runtime.clock import unix_ms
from overlay.runtime.server_process import ServerProcess
from overlay.systems.contract import System
from overlay.systems.registry import SYSTEMS
from overlay.topologies import Graph

LONG_ENOUGH = 100 * MILLISECOND


def rehearse(directory: Path) -> None:
    """Run a server of each system for a moment, with a temporary journal in ``directory``.

    Errors, such as a full disk or a bug of a system from another package, must not end the supervisor: the real
    servers will report them.
    """
    for system in SYSTEMS.values():
        try:
            _rehearse(system, directory / "rehearsal.journal")
        except Exception:  # noqa: BLE001  see above
            traceback.print_exc()


def _rehearse(system: System, journal: Path) -> None:
    config = system.config_of(system.setup({}, None, Graph(1, ())))
    try:
        process = ServerProcess(system, config, ("127.0.0.1", 0), seed=0, journal=journal)
        process.run(lambda server: _play_clients(system, server), until=monotonic_ns() + LONG_ENOUGH)
    finally:
        journal.unlink(missing_ok=True)


def _play_clients(system: System, server: Address) -> None:
    """Send the datagrams of the system's clients, without reading answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        for data in system.rehearsal(server, sock.getsockname(), unix_ms(monotonic_ns())):
            sock.sendto(data, server)
