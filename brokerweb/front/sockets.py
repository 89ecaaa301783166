"""Streams through a websocket: ``/ws/networks/ID/stream/`` with the parameters of ``/api/networks/ID/stream/``.

Close codes: 1000 by the client, 4000 ended by the server, with the reason, 4401 not logged in, 4403 not allowed,
4404 no such network or subscription, otherwise 4000 and the status of the error, such as 4429.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl

from channels.db import database_sync_to_async
from django.db import DatabaseError
from rest_framework.exceptions import APIException

from brokerweb.api import errors
from brokerweb.api.parameters import sentence
from brokerweb.front import event_loop
from brokerweb.front.access_control import AccessControl
from brokerweb.front.budgets import TooManyRequests
from brokerweb.front.principals import Credentials, credentials, who_shows
from brokerweb.front.service import STREAM, ContextRequest, known_parameters, unknown_parameters
from brokerweb.front.stream_transports import ENDED, Receive, Send, Socket
from brokerweb.front.streams import Streams
from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.operationlog import recording
from brokerweb.operationlog.entries import REST
from overlay.core.errors import InvalidSetting

NOT_LOGGED_IN, NOT_ALLOWED, UNKNOWN, WENT_WRONG = 4401, 4403, 4404, 1011

_PATH = re.compile(r"/ws/networks/([A-Za-z0-9_-]{1,20})/stream/")
_WANTED = (b"authorization", b"cookie", b"last-event-id")


class Refused(Exception):
    """With a close code and its reason."""


class Sockets:
    """``otherwise`` answers all other websockets."""

    def __init__(self, streams: Streams, access: AccessControl, otherwise: Callable[..., Awaitable[Any]]) -> None:
        self._streams = streams
        self._access = access
        self._otherwise = otherwise

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        found = _PATH.fullmatch(scope["path"])
        if found is None:
            await self._otherwise(scope, receive, send)
            return
        await receive()
        await send({"type": "websocket.accept"})
        socket = Socket(receive, send)
        try:
            listener = await self._open(found[1], scope)
        except Refused as refused:
            await socket.close(*refused.args)
        except DatabaseError:
            await socket.close(WENT_WRONG, "The database does not answer.")
        except (InvalidSetting, NotPossible, NotAnswered, APIException) as error:
            status, body = errors.answer(error)
            await socket.close(ENDED + status, f"{body['field']}: {body['sentence']}".removeprefix(": "))
        else:
            await listener.run(socket)

    async def _open(self, network: str, scope: Any) -> Any:
        headers = {name.decode(): value.decode("latin1") for name, value in scope["headers"] if name in _WANTED}
        shown = credentials(headers, network)
        if shown is None:
            raise Refused(NOT_LOGGED_IN, "Log in, or send a token.")
        principal, snapshot = await self._access.principal(shown), await self._access.network(network)
        if principal is None:
            raise await _refusal(network, shown)
        if snapshot is None:
            raise Refused(UNKNOWN, "There is no such network.")
        parameters = dict(parse_qsl(scope["query_string"].decode("latin1"), keep_blank_values=True))
        if unknown := unknown_parameters(parameters, snapshot.system, STREAM, "GET"):
            known = known_parameters(snapshot.system, STREAM, "GET") or ()
            raise Refused(ENDED + 400, sentence(unknown[0], known))
        event_loop.use(asyncio.get_running_loop())
        budget = self._access.count(principal.who)
        if budget is not None and budget.is_exceeded:
            raise TooManyRequests(principal.who, budget)
        asked = ContextRequest("GET", snapshot, principal.who, principal.account, STREAM, None, parameters, headers)
        return await self._streams.open(asked, principal, shown)


async def _refusal(network: str, shown: Credentials) -> Refused:
    """Of one who may not read the network; it is in the operation log."""
    sentence = "This account or token may not read this network."
    who = await database_sync_to_async(who_shows, thread_sensitive=False)(shown)
    if not who:
        return Refused(NOT_LOGGED_IN, sentence)
    recording.forbidden(network, who, REST, STREAM, (), sentence)
    return Refused(NOT_ALLOWED, sentence)
