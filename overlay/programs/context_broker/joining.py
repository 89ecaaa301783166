"""A broker in the foreground that joins a network by a bootstrap list, which it reads again and again.

Counterpart: ``overlay.systems.context_broker.newcomer`` decides whom it joins.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from typing import Any

from overlay.core.addresses import Address
from overlay.core.node import SECOND
from overlay.programs.bootstrap_lists import AGAIN_S, BadList, Source
from overlay.runtime.clock import wall_offset_ns
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.newcomer import Newcomer

LOOK_NS = SECOND // 2
"""Between two looks at whether a newer list was read."""


class Reader(threading.Thread):
    """Reads the list whenever it is old: a URL may take seconds, during which the broker answers."""

    def __init__(self, source: Source) -> None:
        super().__init__(name="bootstrap list", daemon=True)
        self.latest: tuple[Address, ...] | None = None
        """``None`` until it was read."""
        self._source = source

    def run(self) -> None:
        problem = ""
        while True:
            try:
                listed = self._source.read()
                self.latest, wait_s, problem = listed.brokers, listed.renew_after_s, ""
            except BadList as error:
                if str(error) != problem:
                    problem = str(error)
                    sys.stderr.write(f"overlay broker: --bootstrap: {error}; trying again every {AGAIN_S:g} s\n")
                wait_s = AGAIN_S
            time.sleep(wait_s)


class JoiningServer(Newcomer):
    """A server that looks at ``reader`` for newer lists."""

    def __init__(self, server: Any, config: BrokerConfig, source: Source) -> None:
        super().__init__(server, config, wall_offset_ns(), random.Random())
        self._seen: tuple[Address, ...] | None = None
        self._next_look = 0
        self._reader = Reader(source)
        self._reader.start()

    def handle_timer(self, now: int) -> None:
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
