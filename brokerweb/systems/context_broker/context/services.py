"""The REST interface to a network's context: applications store and query data through any of its brokers.

Counterpart: ``overlay.programs.context_broker.client.ContextClient`` speaks the protocol. Each entity has its own order
of brokers (highest random weight). Load spreads, a newer value replaces the older one at the same broker, and a broker
that is down costs one more try, not the answer.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any

from django.conf import settings

from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.kit.moments import moment
from brokerweb.networks import broker_index
from brokerweb.networks.models import UP, Network
from brokerweb.systems.context_broker.context import latest
from brokerweb.systems.context_broker.context.latest import Latest
from brokerweb.systems.context_broker.queries.of_networks import trace_of, traced_one_in
from overlay.core.addresses import Address, format_address, parse_address
from overlay.core.errors import InvalidSetting, shown
from overlay.programs.context_broker.client import (
    Answer,
    ContextClient,
    NoAnswer,
    NotFound,
    QueryName,
    Refused,
    Unanswered,
)
from overlay.systems.context_broker.broker.tracing import is_sampled
from overlay.systems.context_broker.clients.payload import format_pairs
from overlay.systems.context_broker.system import SYSTEM
from overlay.systems.context_broker.wire.kinds import MAX_NAME, MAX_PAYLOAD

TRIED = 5
"""Maximum number of brokers queried for one answer."""
LATEST_S = 1.0
"""Timeout for the broker with a later value; after it, the older value is returned."""
LEAST_S = 0.01
"""Minimum time for a query to a broker that just answered a ping."""


class NotRunning(NotPossible):
    """No broker of the network can answer now."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The result of a query."""

    entry: dict[str, Any] | None
    """``None`` if no queried broker found one."""
    trace: str = ""
    """The id of its walk, if it was traced."""


def brokers_of(network: Network, key: tuple[str, str, str], chosen: int | None = None) -> dict[Address, int]:
    """Running brokers, or the ``chosen`` one, with their indexes, in the order of attempts.

    Raises ``NotRunning``; ``InvalidSetting`` for an unknown broker.
    """
    if network.system != SYSTEM.name:
        raise NotRunning(f"This network is of the system {network.system}, which has no context to store or query.")
    if chosen is not None:
        broker_index.known(network, chosen)
    if network.state not in UP:
        raise NotRunning(f"This network is {network.state} and cannot be queried. {network.reason}".strip())
    rows = [row for row in network.brokers if chosen in (None, row["index"])]
    up = {parse_address(row["address"]): row["index"] for row in rows if row["state"] == "up"}
    if not up and chosen is not None:
        raise NotRunning(f"Broker {chosen} is {rows[0]['state'] if rows else 'not started'} and cannot be queried.")
    if not up:
        raise NotRunning("No broker of this network is running.")
    return dict(sorted(up.items(), key=lambda one: blake2b(repr((key, one[0])).encode()).digest()))


def payload_text(payload: Any) -> str:
    """``K=V;K=V`` from an object, or a string unchanged. Raises ``InvalidSetting``."""
    if isinstance(payload, str) and payload:
        return payload
    if not isinstance(payload, dict) or not payload:
        raise InvalidSetting("payload", "must be a non-empty object of strings, or a string")
    for name, value in payload.items():
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise InvalidSetting(f"payload.{name[:60]}", "must be a string")
    return format_pairs(payload)


def provide(
    network: Network,
    type: str,
    entity: str,
    scope: str,
    *,
    provider: str,
    payload: Any,
    valid_ms: int,
    broker: int | None = None,
) -> dict[str, Any]:
    """Store context at the broker with index ``broker``, or at any; returns the accepting broker.

    Raises ``InvalidSetting``, ``NotRunning``, ``NotAnswered``.
    """
    key = _key(type, entity, scope)
    text = payload_text(payload).encode()
    if len(text) > MAX_PAYLOAD:
        raise InvalidSetting("payload", f"has {len(text)} bytes; the limit is {MAX_PAYLOAD}")
    brokers = brokers_of(network, key, broker)
    client = ContextClient(list(brokers)[:TRIED], settings.CONTEXT_DEADLINE_SECONDS)
    begin = datetime.now(UTC)
    try:
        taker = client.provide(_name("provider", provider), key, text, valid_ms)
    except Refused as error:
        raise InvalidSetting("payload", str(error)) from None
    except NoAnswer as error:
        raise NotAnswered(str(error)) from None
    latest.note(network.pk, key, Latest(int(begin.timestamp() * 1000), taker), valid_ms)
    end = begin + timedelta(milliseconds=valid_ms)
    return {"broker": format_address(taker), "broker_index": brokers[taker], "valid_begin": begin, "valid_end": end}


def ask(
    network: Network, type: str, entity: str, scope: str, *, broker: int | None = None, is_traced: bool = False
) -> Asked:
    """Query the broker with index ``broker``, or any. Raises like ``provide``.

    A walk may miss data that another would find, so after "not found" several brokers are queried. With ``is_traced``,
    the query is sent so that all brokers trace it, if the network traces at all.
    """
    key = _key(type, entity, scope)
    one_in = traced_one_in(network) if is_traced else 0
    brokers = brokers_of(network, key, broker)
    wrong: list[Unanswered] = []
    for client in _there(list(brokers)[:TRIED], one_in):
        try:
            answer = client.ask(key)
        except (NotFound, Refused, NoAnswer) as error:
            wrong.append(error)
        else:
            newest = None if broker is not None else _newest(network, key, answer, brokers)
            return Asked(_entry(newest or answer, brokers), _trace(answer.query, key, one_in))
    if not_found := [error for error in wrong if isinstance(error, NotFound)]:
        elsewhere = None if broker is not None else _newest(network, key, None, brokers)
        return Asked(None if elsewhere is None else _entry(elsewhere, brokers), _trace(not_found[0].query, key, one_in))
    if broker is not None and not wrong:
        raise NotAnswered(f"Broker {broker} does not answer.")
    raise NotAnswered("; ".join(map(str, wrong)) or "none of the queried brokers answers")


def _newest(
    network: Network, key: tuple[str, str, str], found: Answer | None, brokers: Mapping[Address, int]
) -> Answer | None:
    """``found``, or the value of the broker that accepted a later one through REST."""
    known = latest.of(network.pk, key)
    if known is None or known.broker not in brokers or (found and found.timestamp >= known.stamp_ms):
        return found
    try:
        other = ContextClient([known.broker], LATEST_S).ask(key)
    except (NotFound, Refused, NoAnswer):  # it is down, and the later value is lost
        return found
    return other if found is None or other.timestamp > found.timestamp else found


def _trace(query: QueryName | None, key: tuple[str, str, str], one_in: int) -> str:
    """The trace id if ``query`` is traced; with rare tracing, no timestamp near enough may qualify."""
    if query is None or not is_sampled(query.timestamp, query.consumer[1], one_in):
        return ""
    return trace_of(query, key)


def _there(brokers: Sequence[Address], one_in: int) -> Iterator[ContextClient]:
    """Clients of brokers that answer a ping, in order, each with the remaining time.

    A silent broker costs only a part of the time. A walk in progress, which may query every broker over slow links, is
    not cut short for the next attempt.
    """
    end = time.monotonic() + settings.CONTEXT_DEADLINE_SECONDS
    while brokers and (left_s := end - time.monotonic()) > 0:
        try:
            broker = ContextClient(brokers, left_s / 2).ping()
        except (NoAnswer, Refused):
            return
        brokers = brokers[brokers.index(broker) + 1 :]
        yield ContextClient([broker], max(round(end - time.monotonic(), 2), LEAST_S), trace_one_in=one_in)


def _entry(answer: Answer, brokers: Mapping[Address, int]) -> dict[str, Any]:
    return {
        "provider": answer.provider,
        "payload": answer.payload,
        "text": answer.text,
        "valid_begin": moment(answer.valid_begin),
        "valid_end": moment(answer.valid_end),
        "age_ms": answer.age_ms(),
        "broker": format_address(answer.broker),
        "broker_index": brokers[answer.broker],
    }


def _key(type: str, entity: str, scope: str) -> tuple[str, str, str]:
    return _name("type", type), _name("entity", entity), _name("scope", scope)


def _name(field: str, text: str) -> str:
    if not text or "|" in text or len(text.encode()) > MAX_NAME:
        raise InvalidSetting(field, f"must be 1 to {MAX_NAME} bytes without |, not {shown(text)}")
    return text
