"""Forks brokers as the supervisor does, for ``benchmarks.servers``: a line of JSON in, a line of JSON out.

It imports what the supervisor imports and prepares itself alike, so that its brokers share and carry the same.

In: ``{"settings": {...}, "journal": path}``; out: ``{"pid": n, "address": "host:port"}`` or ``{"error": why}``. It ends
when its standard input does, and its brokers with it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from select import select
from typing import Any

from overlay.addresses import format_address
from overlay.broker.config import BrokerConfig
from overlay.profiles import resolved
from overlay.runtime import supervisor
from overlay.runtime.daemon import run_broker
from overlay.runtime.processes import Ready, fork, last_words

START_S = 10.0


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who started this, who then closes the line
    supervisor._prepare_zygote()
    lifeline, _held = os.pipe()
    for number, line in enumerate(sys.stdin):
        print(json.dumps(_start(json.loads(line), number, lifeline)), flush=True)


def _start(wanted: Mapping[str, Any], number: int, lifeline: int) -> dict[str, Any]:
    journal = Path(wanted["journal"])

    def work(ready: Ready) -> int:
        return run_broker(
            BrokerConfig(**resolved(wanted["settings"])),
            ("127.0.0.1", 0),
            seed=number,
            journal=journal,
            zero_ns=time.monotonic_ns(),
            on_ready=lambda address: ready(format_address(address)),
            lifeline_fd=lifeline,
        )

    child = fork(work, journal.with_suffix(".words"), (lifeline,))
    select([child.ready], [], [], START_S)
    try:
        address = os.read(child.ready, 200).decode().strip()
    except BlockingIOError:
        address = ""
    os.close(child.ready)
    if address:
        return {"pid": child.pid, "address": address}
    return {"error": last_words(child.words) or f"the broker was not ready within {START_S:g} s"}


if __name__ == "__main__":
    main()
