"""A server of Radiator's exchange as a process: ``python -m benchmarks.radiator.served ours|bare DIRECTORY``.

``ours`` is the server as the supervisor runs it, with its journal in DIRECTORY and a message per push; ``bare`` is
``benchmarks.radiator.bare``. It prints its ``host:port`` once it answers, and ends with its parent process.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from pathlib import Path

from benchmarks.radiator.bare import Bare
from overlay.core.addresses import Address, format_address
from overlay.runtime.datagrams import choose, open_datagrams
from overlay.runtime.lifeline import die_with_parent
from overlay.runtime.server_process import ServerProcess, run_server
from overlay.runtime.udp import bound_address, open_socket
from overlay.systems.radiator.settings import ServerConfig, Settings
from overlay.systems.radiator.system import SYSTEM

ANY = ("127.0.0.1", 0)


def main(kind: str, directory: str) -> int:
    die_with_parent(os.getppid())
    if kind == "bare":
        _serve_bare()
    journal = Path(directory) / "server-0.journal"
    config = ServerConfig(Settings(echo=True, alive_s=3_600, silence_s=3_600))
    process = ServerProcess(SYSTEM, config, ANY, seed=1, journal=journal, zero_ns=time.monotonic_ns())
    gc.freeze()
    return run_server(process, _say)


def _say(address: Address) -> None:
    print(format_address(address), flush=True)


def _serve_bare() -> None:
    sock = open_socket(ANY)
    datagrams, answer = open_datagrams(sock, choose()), Bare().answer
    _say(bound_address(sock))
    gc.freeze()
    while True:
        try:
            datagrams.send(answer(datagrams.receive(True)))
        except OSError:  # an ICMP error of an earlier datagram
            continue


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
