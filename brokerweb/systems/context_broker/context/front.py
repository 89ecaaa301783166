"""The REST front of a network: an application provides and asks context through any of its brokers.

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
from brokerweb.networks import numbers
from brokerweb.networks.models import UP, Network
from brokerweb.systems.context_broker.context import latest
from brokerweb.systems.context_broker.context.latest import Latest
from brokerweb.systems.context_broker.queries.of_networks import trace_of, traced_one_in
from overlay.core.addresses import Address, format_address, parse_address
from overlay.core.errors import InvalidSetting
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
from overlay.systems.context_broker.wire.kinds import MAX_NAME, MAX_PAYLOAD

TRIED = 5
"""Brokers asked at most for one answer."""
LATEST_S = 1.0
"""For the broker that took a later value; past it the older one is answered."""
LEAST_S = 0.01
"""What is left at least for a question to a broker that has just shown that it is there."""


class NotRunning(NotPossible):
    """No broker of the network answers questions now."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of a question."""

    entry: dict[str, Any] | None
    """``None`` if no broker that was asked found one."""
    trace: str = ""
    """The id of its walk, where it was asked so that brokers trace it."""


def brokers_of(network: Network, key: tuple[str, str, str], chosen: int | None = None) -> dict[Address, int]:
    """The brokers that are up, or the ``chosen`` one of them, and their indexes, in the order in which they are tried.

    Raises ``NotRunning``; ``InvalidSetting`` for one that the network does not have.
    """
    if chosen is not None:
        numbers.known(network, chosen)
    if network.state not in UP:
        raise NotRunning(f"This network is {network.state}, so nobody can be asked. {network.reason}".strip())
    rows = [row for row in network.brokers if chosen in (None, row["index"])]
    up = {parse_address(row["address"]): row["index"] for row in rows if row["state"] == "up"}
    if not up and chosen is not None:
        raise NotRunning(f"Broker {chosen} is {rows[0]['state'] if rows else 'not there yet'}, so it cannot be asked.")
    if not up:
        raise NotRunning("None of this network's brokers is up.")
    return dict(sorted(up.items(), key=lambda one: blake2b(repr((key, one[0])).encode()).digest()))


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
    """Stores context, at the ``broker`` of this index or at any; which one took it.

    Raises ``InvalidSetting``, ``NotRunning``, ``NotAnswered``.
    """
    key = _key(type, entity, scope)
    text = payload_text(payload).encode()
    if len(text) > MAX_PAYLOAD:
        raise InvalidSetting("payload", f"has {len(text)} bytes; a broker takes at most {MAX_PAYLOAD}")
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
    """Asks the ``broker`` of this index, or any. Raises as ``provide`` does.

    A walk may end in a dead end and miss what another would find, so "not found" is asked of several brokers. One that
    ``is_traced`` is asked so that all brokers trace it, where the network traces anything.
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
    raise NotAnswered("; ".join(map(str, wrong)) or "none of the brokers that were asked says anything")


def _newest(
    network: Network, key: tuple[str, str, str], found: Answer | None, brokers: Mapping[Address, int]
) -> Answer | None:
    """``found``, or what that one of ``brokers`` has that took a later value through REST."""
    known = latest.of(network.pk, key)
    if known is None or known.broker not in brokers or (found and found.timestamp >= known.stamp_ms):
        return found
    try:
        other = ContextClient([known.broker], LATEST_S).ask(key)
    except (NotFound, Refused, NoAnswer):  # it is gone, and with it the later value
        return found
    return other if found is None or other.timestamp > found.timestamp else found


def _trace(query: QueryName | None, key: tuple[str, str, str], one_in: int) -> str:
    """Where ``query`` is one of those that brokers trace: of few, no moment near enough may be one."""
    if query is None or not is_sampled(query.timestamp, query.consumer[1], one_in):
        return ""
    return trace_of(query, key)


def _there(brokers: Sequence[Address], one_in: int) -> Iterator[ContextClient]:
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
        raise InvalidSetting(field, f"must be 1 to {MAX_NAME} bytes without |, not {text!r:.60}")
    return text
