"""Client of Waxwing: context networks, experiments and their results.

::

    from waxwing import Client

    with Client() as waxwing:                                  # WAXWING_URL, WAXWING_TOKEN, or `waxwing login`
        room = waxwing.context(waxwing.networks.find("campus").id)
        room.put("room", "r1", "temp", {"degC": 21.5}, provider="sensor-1")
        print(room.get("room", "r1", "temp").payload)

``AsyncClient`` has the same methods with ``await``. ``waxwing.udp`` talks to brokers without the server. The command
``waxwing`` does the same on a terminal.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from waxwing.contextnets import (
    ApplicationUser,
    DiscardedMessage,
    Heard,
    MobileMessage,
    MobileNode,
    MobileSubscription,
    SentMessage,
)
from waxwing.contexts import Change, delete, get, put
from waxwing.errors import (
    ApiError,
    Conflict,
    InvalidMessage,
    NoConnection,
    NotAllowed,
    NotAnswered,
    NotConfigured,
    NotFound,
    NotInTime,
    PreconditionFailed,
    Problem,
    Redirected,
    RunFailed,
    TooMany,
    UnexpectedAnswer,
    WaxwingError,
)
from waxwing.federations import Found, Notification, Provider, Subscription, Told
from waxwing.pubsubs import Notified, Published, PubsubClient, PubsubSubscription, Why
from waxwing.records import (
    Bridge,
    Context,
    Experiment,
    Judged,
    Launch,
    Network,
    Records,
    Report,
    Result,
    Run,
    Stored,
    Study,
)
from waxwing.retries import Retry

if TYPE_CHECKING:
    from waxwing._async.client import AsyncClient
    from waxwing._sync.client import Client

__all__ = [
    "ApiError",
    "ApplicationUser",
    "AsyncClient",
    "Bridge",
    "Change",
    "Client",
    "Conflict",
    "Context",
    "DiscardedMessage",
    "Experiment",
    "Found",
    "Heard",
    "InvalidMessage",
    "Judged",
    "Launch",
    "MobileMessage",
    "MobileNode",
    "MobileSubscription",
    "Network",
    "NoConnection",
    "NotAllowed",
    "NotAnswered",
    "NotConfigured",
    "NotFound",
    "NotInTime",
    "Notification",
    "Notified",
    "PreconditionFailed",
    "Problem",
    "Provider",
    "Published",
    "PubsubClient",
    "PubsubSubscription",
    "Records",
    "Redirected",
    "Report",
    "Result",
    "Retry",
    "Run",
    "RunFailed",
    "SentMessage",
    "Stored",
    "Study",
    "Subscription",
    "Told",
    "TooMany",
    "UnexpectedAnswer",
    "WaxwingError",
    "Why",
    "delete",
    "get",
    "put",
]

_MODULES = {"AsyncClient": "_async.client", "Client": "_sync.client"}
"""Imported when used: ``httpx`` takes longer to import than all the rest, and ``waxwing --help`` does not need it."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]
