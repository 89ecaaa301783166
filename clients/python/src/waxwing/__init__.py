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

from waxwing._async.client import AsyncClient
from waxwing._sync.client import Client
from waxwing.contexts import Change, delete, get, put
from waxwing.errors import (
    ApiError,
    Conflict,
    NoConnection,
    NotAllowed,
    NotAnswered,
    NotConfigured,
    NotFound,
    NotInTime,
    PreconditionFailed,
    Problem,
    RunFailed,
    TooMany,
    WaxwingError,
)
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

__all__ = [
    "ApiError",
    "AsyncClient",
    "Bridge",
    "Change",
    "Client",
    "Conflict",
    "Context",
    "Experiment",
    "Judged",
    "Launch",
    "Network",
    "NoConnection",
    "NotAllowed",
    "NotAnswered",
    "NotConfigured",
    "NotFound",
    "NotInTime",
    "PreconditionFailed",
    "Problem",
    "Records",
    "Report",
    "Result",
    "Retry",
    "Run",
    "RunFailed",
    "Stored",
    "Study",
    "TooMany",
    "WaxwingError",
    "delete",
    "get",
    "put",
]
