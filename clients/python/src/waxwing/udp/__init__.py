"""Talks to brokers directly, by the datagrams of the context broker; no server and no token.

::

    from waxwing.udp import BrokerClient

    with BrokerClient(["127.0.0.1:20000", "127.0.0.1:20001"]) as brokers:
        brokers.provide("sensor-1", "room", "r1", "temp", {"degC": 21.5})
        print(brokers.ask("room", "r1", "temp").payload)

``AsyncBrokerClient`` has the same methods with ``await``. Brokers answer strangers outside their trusted networks with
at most three times the bytes that they sent.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from waxwing.errors import NoAnswer, NothingFound, Refused
from waxwing.udp.exchange import Answer

if TYPE_CHECKING:
    from waxwing.udp.asynchronous import AsyncBrokerClient
    from waxwing.udp.client import BrokerClient

__all__ = ["Answer", "AsyncBrokerClient", "BrokerClient", "NoAnswer", "NothingFound", "Refused"]

_MODULES = {"AsyncBrokerClient": "asynchronous", "BrokerClient": "client"}
"""Imported when used: asyncio takes longer to import than all of this package."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]
