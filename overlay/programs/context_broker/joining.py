"""A broker in the foreground that joins a network by a bootstrap list, which it reads again and again.

Counterpart: ``overlay.systems.context_broker.joining_broker`` decides whom it joins.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from overlay.core.addresses import Address
from overlay.core.node import SECOND
from overlay.programs.bootstrap_lists import AGAIN_S, BadList, Listed
from overlay.runtime.clock import wall_offset_ns
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.joining_broker import JoiningBroker

LOOK_NS = SECOND // 2
"""Between two looks at whether a newer list was read."""


class Reader(threading.Thread):
    """Reads the list whenever it is old: a URL may take seconds, during which the broker answers."""

    def __init__(self, read: Callable[[], Listed], prog: str = "overlay broker") -> None:
        super().__init__(name="bootstrap list", daemon=True)
        self.latest: tuple[Address, ...] | None = None
        """``None`` until it was read."""
        self._read, self._prog = read, prog

    def run(self) -> None:
        problem = ""
        while True:
            try:
                listed = self._read()
                self.latest, wait_s, problem = listed.brokers, listed.renew_after_s, ""
            except BadList as error:
                if str(error) != problem:
                    problem = str(error)
                    sys.stderr.write(f"{self._prog}: --bootstrap: {error}; trying again every {AGAIN_S:g} s\n")
                wait_s = AGAIN_S
            time.sleep(wait_s)


class JoiningServer(JoiningBroker):
    """A server that looks at ``reader`` for newer lists."""

    def __init__(self, server: Any, config: BrokerConfig, read: Callable[[], Listed]) -> None:
        super().__init__(server, config, wall_offset_ns(), random.Random())
        self._seen: tuple[Address, ...] | None = None
        self._next_look = 0
        self._reader = Reader(read)
        """Started with the first timer: in the process that runs the server, which may be a fork of this one."""

    def handle_timer(self, now: int) -> None:
        if not self._reader.ident:
            self._reader.start()
        if now >= self._next_look:
            self._next_look = now + LOOK_NS
            latest = self._reader.latest
            if latest is not None and (latest is not self._seen or self.bootstrap.wants_list):
                self._seen = latest
                self.renew(latest, now)
        super().handle_timer(now)

    def next_timer(self) -> int | None:
        timer = super().next_timer()
        return self._next_look if timer is None or timer > self._next_look else timer
