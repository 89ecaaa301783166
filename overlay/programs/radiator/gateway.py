"""The clients of an HTTP gateway: each is one of the server's, with a UDP port of its own. Counterpart: ``http_front``.

A push becomes ``POST /receive {epoch, propagation, chain, position, attempt, mac, blob}``, compressed, to the address
that registered, port 1024 or higher. 204 acknowledges it.
"""

from __future__ import annotations

import http.client
import json
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from threading import Lock
from typing import Any

from overlay.core.addresses import Address
from overlay.core.binary import canonical
from overlay.core.errors import WaxwingError, WireError
from overlay.programs.radiator.client import NoAnswer, RadiatorClient, Refused
from overlay.systems.radiator.chains.relayed import RelayedHop
from overlay.systems.radiator.context import TooLargeContext, check_context
from overlay.systems.radiator.middleware.calls import Result
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.compression import GZIP, deflate

MOST_CLIENTS = 1_000
MOST_ANSWERS = 256
"""Remembered for repeated requests of a client."""
LOWEST_PORT = 1_024
PUSHES_AT_ONCE = 32
PUSH_S = 1.0


class Wrong(WaxwingError):
    """A request that is answered with an error."""

    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(eq=False)
class Registered:
    """A client of the gateway."""

    client: RadiatorClient
    instance: int
    address: Address
    """Where it receives."""
    answers: OrderedDict[int, tuple[HTTPStatus, str]] = field(default_factory=OrderedDict)
    """By request."""


class Gateway:
    """The clients of one server. Methods may be called from any thread, and raise ``Wrong``."""

    def __init__(self, server: Address, deadline_s: float = 10.0) -> None:
        self._server, self._deadline_s = server, deadline_s
        self._clients: dict[str, Registered] = {}
        self._lock = Lock()
        self._pushes = ThreadPoolExecutor(PUSHES_AT_ONCE, "radiator-push")

    def close(self) -> None:
        for one in list(self._clients.values()):
            one.client.__exit__(None, None, None)
        self._pushes.shutdown(wait=False, cancel_futures=True)

    def register(self, document: Mapping[str, Any], host: str) -> dict[str, Any]:
        id, port = _of(document, "id", str), _of(document, "port", int)
        instance, attributes = _of(document, "instance", int), _of(document, "attributes", dict)
        if not LOWEST_PORT <= port <= 65_535 or not 0 <= instance < 1 << 64:
            raise Wrong(HTTPStatus.BAD_REQUEST, f"port must be from {LOWEST_PORT} to 65535, instance of 64 bits")
        known = self._clients.get(id)
        if known is not None and (known.instance, known.address) != (instance, (host, port)):
            raise Wrong(HTTPStatus.CONFLICT, "another client has this id")
        if known is None:
            if len(self._clients) >= MOST_CLIENTS:
                raise Wrong(HTTPStatus.SERVICE_UNAVAILABLE, f"there are {MOST_CLIENTS:,} clients")
            known = self._registered(id, instance, (host, port), attributes)
            with self._lock:  # the server has refused all others with this id
                self._clients[id] = known
        assert isinstance(known.client.hop, RelayedHop)
        epoch, key = known.client.hop.admission
        return {"epoch": epoch, "key": key.hex()}

    def _registered(self, id: str, instance: int, address: Address, attributes: Mapping[str, Any]) -> Registered:
        relay = partial(self._relay, id)
        client = RadiatorClient(
            self._server,
            id,
            attributes=attributes,
            deadline_s=self._deadline_s,
            instance=instance,
            make_hop=partial(RelayedHop, relay=relay),
        )
        try:
            return Registered(client.__enter__(), instance, address)
        except Refused as error:
            raise Wrong(HTTPStatus.CONFLICT, str(error)) from None
        except NoAnswer as error:
            raise Wrong(HTTPStatus.GATEWAY_TIMEOUT, str(error)) from None

    def unregister(self, id: str, instance: int) -> None:
        with self._lock:
            known = self._known(id, instance)
            del self._clients[id]
        known.client.__exit__(None, None, None)

    def call(self, document: Mapping[str, Any]) -> tuple[HTTPStatus, str]:
        """The answer to a context; that of a repeated request is the first one's."""
        req = _of(document, "req", int)
        known = self._known(_of(document, "client", str), _of(document, "instance", int))
        if req not in known.answers:
            answer = _answer(known.client, _of(document, "context", dict))
            if answer[0] is HTTPStatus.TOO_MANY_REQUESTS:
                return answer
            known.answers[req] = answer
            if len(known.answers) > MOST_ANSWERS:
                known.answers.popitem(last=False)
        return known.answers[req]

    def _known(self, id: str, instance: int) -> Registered:
        known = self._clients.get(id)
        if known is None or known.instance != instance:
            raise Wrong(HTTPStatus.NOT_FOUND, f"there is no client {id!r:.60} of this instance")
        return known

    # ---- pushes

    def _relay(self, id: str, push: m.Push, body: bytes) -> None:
        """In the thread of a client."""
        self._pushes.submit(self._push, id, push, body)

    def _push(self, id: str, push: m.Push, body: bytes) -> None:
        known = self._clients.get(id)
        if known is not None:
            is_received = _accepts(known.address, push, body)
            known.client.settle(push.epoch, push.propagation, is_received=is_received)


def _accepts(address: Address, push: m.Push, body: bytes) -> bool:
    """Whether the client at ``address`` answers 204."""
    numbers = {name: getattr(push, name) for name in ("epoch", "propagation", "chain", "position", "attempt")}
    document = {**numbers, "mac": push.mac.hex(), "blob": json.loads(body)}
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    connection = http.client.HTTPConnection(*address, timeout=PUSH_S)
    try:
        connection.request("POST", "/receive", deflate(canonical(document), GZIP), headers)
        return connection.getresponse().status == HTTPStatus.NO_CONTENT
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _answer(client: RadiatorClient, value: Mapping[str, Any]) -> tuple[HTTPStatus, str]:
    try:
        result = client.call(check_context(value))
    except TooLargeContext as error:
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, str(error)
    except WireError as error:
        return HTTPStatus.BAD_REQUEST, str(error)
    except NoAnswer as error:
        raise Wrong(HTTPStatus.GATEWAY_TIMEOUT, str(error)) from None
    return _STATUSES.get(result, HTTPStatus.BAD_GATEWAY), str(result)


_STATUSES = {
    Result.ACCEPTED: HTTPStatus.ACCEPTED,
    Result.BUSY: HTTPStatus.TOO_MANY_REQUESTS,
    Result.MALFORMED: HTTPStatus.BAD_REQUEST,
    Result.TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    Result.UNKNOWN: HTTPStatus.NOT_FOUND,
}


def _of(document: Mapping[str, Any], name: str, kind: type) -> Any:
    value = document.get(name, {} if kind is dict and name == "attributes" else None)
    if type(value) is not kind:
        raise Wrong(HTTPStatus.BAD_REQUEST, f"{name} must be {_KINDS[kind]}")
    return value


_KINDS = {str: "a text", int: "a whole number", dict: "an object"}
