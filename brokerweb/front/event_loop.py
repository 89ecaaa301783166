"""The way from Django's threads to the service: for requests that were passed on, and for pages.

The service runs in the event loop of the web process. In a process without one (tests, ``manage.py runserver``) it gets
a thread with a loop of its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def use(loop: asyncio.AbstractEventLoop) -> None:
    """The service runs in this one."""
    global _loop
    _loop = loop


def run(what: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine of the service, which limits its own time. Call it in a thread without a running loop.

    Raises what it raises.
    """
    return asyncio.run_coroutine_threadsafe(what, _running()).result()


def _running() -> asyncio.AbstractEventLoop:
    with _lock:
        if _loop is None or not _loop.is_running():
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="front", daemon=True).start()
            use(loop)
        assert _loop is not None
        return _loop
