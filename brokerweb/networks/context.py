"""The REST front of a network: an application provides and asks context through any of its brokers.

Counterpart: ``overlay.runtime.client.ContextClient`` speaks the protocol. An entity has its own order of brokers (by
highest random weight), so that load spreads, a newer value replaces the older one where it lies instead of lying beside
it at another broker, and one that is down costs a try and not the answer.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any

from django.conf import settings

from brokerweb.errors import NotPossible
from brokerweb.moments import moment
from brokerweb.networks.models import UP, Network
from overlay.addresses import Address, format_address, parse_address
from overlay.broker.fields import MAX_NAME, MAX_PAYLOAD
from overlay.clients.payload import format_pairs
from overlay.errors import InvalidSetting, WaxwingError
from overlay.runtime.client import Answer, ContextClient, NoAnswer, NotFound, Refused

TRIED = 5
"""Brokers asked at most for one answer."""
LEAST_S = 0.01
"""What is left at least for a question to a broker that has just shown that it is there."""


class NotRunning(NotPossible):
    """No broker of the network answers questions now."""


class NotAnswered(Exception):
    """No broker answered in time."""


def brokers_of(network: Network, key: tuple[str, str, str]) -> list[Address]:
    """The addresses of its brokers that are up, in the order in which they are tried. Raises ``NotRunning``."""
    if network.state not in UP:
        raise NotRunning(f"This network is {network.state}, so nobody can be asked. {network.reason}".strip())
    up = [parse_address(broker["address"]) for broker in network.brokers if broker["state"] == "up"]
    if not up:
        raise NotRunning("None of this network's brokers is up.")
    return sorted(up, key=lambda broker: blake2b(repr((key, broker)).encode()).digest())


def payload_text(payload: Any) -> str:
    """``K=V;K=V`` from an object, or a text as it is. Raises ``InvalidSetting``."""
    if isinstance(payload, str) and payload:
        return payload
    if not isinstance(payload, dict) or not payload:
        raise InvalidSetting("payload", "must be an object of names and texts with something in it, or a text")
    for name, value in payload.items():
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise InvalidSetting(f"payload.{name[:60]}", "must be a text")
    return format_pairs(payload)


def provide(
    network: Network, type: str, entity: str, scope: str, *, provider: str, payload: Any, valid_ms: int
) -> dict[str, Any]:
    """Stores context; which broker took it. Raises ``InvalidSetting``, ``NotRunning``, ``NotAnswered``."""
    key = _key(type, entity, scope)
    text = payload_text(payload).encode()
    if len(text) > MAX_PAYLOAD:
        raise InvalidSetting("payload", f"has {len(text)} bytes; a broker takes at most {MAX_PAYLOAD}")
    client = ContextClient(brokers_of(network, key)[:TRIED], settings.CONTEXT_DEADLINE_SECONDS)
    begin = datetime.now(UTC)
    try:
        broker = client.provide(_name("provider", provider), key, text, valid_ms)
    except Refused as error:
        raise InvalidSetting("payload", str(error)) from None
    except NoAnswer as error:
        raise NotAnswered(str(error)) from None
    end = begin + timedelta(milliseconds=valid_ms)
    return {"broker": format_address(broker), "valid_begin": begin, "valid_end": end}


def ask(network: Network, type: str, entity: str, scope: str) -> dict[str, Any] | None:
    """The entry, or ``None`` if no broker that was asked found one. Raises as ``provide`` does.

    A walk may end in a dead end and miss what another would find, so "not found" is asked of several brokers.
    """
    key = _key(type, entity, scope)
    wrong: list[WaxwingError] = []
    for client in _there(brokers_of(network, key)[:TRIED]):
        try:
            return _entry(client.ask(key))
        except (NotFound, Refused, NoAnswer) as error:
            wrong.append(error)
    if any(isinstance(error, NotFound) for error in wrong):
        return None
    raise NotAnswered("; ".join(map(str, wrong)) or "none of the brokers that were asked says anything")


def _there(brokers: Sequence[Address]) -> Iterator[ContextClient]:
    """A client of each broker that answers a ping, in their order, with all the time that is left by then.

    So one that is silent costs only a part of the time, and a walk that is under way, which may have to ask every
    broker over slow links, is not given up for the next one's sake.
    """
    end = time.monotonic() + settings.CONTEXT_DEADLINE_SECONDS
    while brokers and (left_s := end - time.monotonic()) > 0:
        try:
            broker = ContextClient(brokers, left_s / 2).ping()
        except (NoAnswer, Refused):
            return
        brokers = brokers[brokers.index(broker) + 1 :]
        yield ContextClient([broker], max(round(end - time.monotonic(), 2), LEAST_S))


def _entry(answer: Answer) -> dict[str, Any]:
    return {
        "provider": answer.provider,
        "payload": answer.payload,
        "text": answer.text,
        "valid_begin": moment(answer.valid_begin),
        "valid_end": moment(answer.valid_end),
        "age_ms": answer.age_ms(),
        "broker": format_address(answer.broker),
    }


def _key(type: str, entity: str, scope: str) -> tuple[str, str, str]:
    return _name("type", type), _name("entity", entity), _name("scope", scope)


def _name(field: str, text: str) -> str:
    if not text or "|" in text or len(text.encode()) > MAX_NAME:
        raise InvalidSetting(field, f"must be 1 to {MAX_NAME} bytes without |, not {text!r:.60}")
    return text
