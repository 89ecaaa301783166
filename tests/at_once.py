"""Several that do the same at the same moment, each in a thread and with a connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from django.db import connections


def at_once(act: Callable[[], Any], times: int) -> list[Any]:
    """What each of so many threads that do it at once got."""
    got: list[Any] = []
    together = threading.Barrier(times)

    def one() -> None:
        together.wait()
        try:
            got.append(act())
        finally:
            connections.close_all()

    threads = [threading.Thread(target=one) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got
