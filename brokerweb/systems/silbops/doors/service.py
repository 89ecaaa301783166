"""What applications do in a network by way of HTTP. Blocking: call it in Django's threads.

Everything raises ``InvalidSetting``, ``NotPossible``, ``NotAnswered`` and errors of REST.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from brokerweb.front.budgets import count_in_thread
from brokerweb.hosting.views import Caller, check_url, in_loop
from brokerweb.kit.errors import NotPossible
from brokerweb.networks import broker_index
from brokerweb.operationlog import recording
from brokerweb.operationlog.entries import PUT, REST
from brokerweb.systems.silbops.doors import rows
from brokerweb.systems.silbops.doors.documents import read_by
from brokerweb.systems.silbops.doors.host import HOST
from brokerweb.systems.silbops.doors.problems import ERRORS, as_rest
from brokerweb.systems.silbops.doors.rows import ROWS
from brokerweb.systems.silbops.models import SilbopsClient, SilbopsSubscription
from overlay.core.errors import InvalidSetting
from overlay.systems.silbops.content.values import Value
from overlay.systems.silbops.system import SYSTEM

T = TypeVar("T")
Content = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Publication:
    notification: Content
    context: Content | None = None
    """``None``: the client's, as it is."""
    scope: str = ""


# ---- clients


def set_client(caller: Caller, name: str, fields: Mapping[str, Any]) -> SilbopsClient:
    """Its ``context`` and ``broker``, as far as they are given. Returns once a broker has them."""
    if (broker := fields.get("broker")) is not None:
        broker_index.below(caller.snapshot.servers, broker)
    row = ROWS.kept(caller.network, caller.user, name)
    former = rows.change(row, **fields)
    try:
        _run(HOST.use(caller.snapshot, row.pk))
    except BaseException:
        rows.change(row, **former)
        raise
    return row


def unregister(caller: Caller, name: str) -> None:
    """With its subscriptions."""
    row = ROWS.client(caller.network, caller.user, name)
    id = row.pk
    row.delete()
    _run(HOST.unregister(id))


# ---- subscriptions


def subscribe(
    caller: Caller, client: str, where: Sequence[Any], scope: str, url: str, context: Content | None
) -> SilbopsSubscription:
    """Returns once a broker has it. ``context``: of its client from now on; ``None``: as it is."""
    check_url(url)
    of = ROWS.kept(caller.network, caller.user, client)
    if context is not None:
        of = set_client(caller, client, {"context": context})
    row = ROWS.subscribe(of, where=list(where), scope=scope, url=url)
    try:
        _run(HOST.subscribe(caller.snapshot, row))
    except BaseException:
        row.delete()
        raise
    return row


def position(caller: Caller) -> str:
    """The id of the last event of the network's streams."""
    return _run(HOST.position(caller.network))


def unsubscribe(client: str, ids: Sequence[str]) -> None:
    """``client``: the id of its row."""
    ROWS.remove(ids)
    _run(HOST.withdraw(client, ids))


# ---- publications


def publish(caller: Caller, client: str, one: Publication) -> str:
    """Returns the name of the broker that has received it."""
    count_in_thread(caller.who, 1)
    row, context = offered(caller, client, one)
    rows.change(row, context=dict(context))

    async def publish() -> str:
        async with HOST.client(caller.snapshot, row.pk) as hosted:
            await hosted.publish(one.notification, context, one.scope)
            broker: str = hosted.client.core.site.broker
            return broker

    with recording.noted(caller.network, caller.who, REST, PUT, ("publish",), client) as said:
        broker = _run(publish())
        said["broker_index"] = int(broker[1:])
    return broker


def offered(caller: Caller, client: str, one: Publication) -> tuple[SilbopsClient, Content]:
    """The client, which is to advertise what the publication has, and the context of the publication."""
    _check_scope(caller, one)
    row = ROWS.kept(caller.network, caller.user, client)
    context = _context_of(row, one)
    rows.offer(row, context, read_by(one.scope))
    return row, context


def advertised(caller: Caller, client: str, one: Publication) -> tuple[SilbopsClient, Content]:
    """The same without a change, of a client that advertises all of it. Raises ``NotFound`` and ``NotPossible``."""
    _check_scope(caller, one)
    row = ROWS.client(caller.network, caller.user, client)
    context = _context_of(row, one)
    new = sorted({*context} - {*row.variables}) + sorted({*read_by(one.scope)} - {*row.readable})
    if new or not row.is_publisher:
        what = f"advertises no {', '.join(new)}" if row.is_publisher else "has published nothing"
        raise NotPossible(
            f"Client {client} {what} yet, and a dry publication advertises nothing. Publish it once first."
        )
    return row, context


def _check_scope(caller: Caller, one: Publication) -> None:
    """Raises ``InvalidSetting``."""
    settings = SYSTEM.read_settings(caller.snapshot.settings)
    if one.scope and not settings.has_publisher_scope:
        raise InvalidSetting("scope", "publishers have functions only in networks with publisher_scope")


def _context_of(row: SilbopsClient, one: Publication) -> Content:
    return (row.context or {}) if one.context is None else one.context


def attached(caller: Caller, row: SilbopsClient) -> tuple[str, Any]:
    """The name and the address of the broker where it is."""

    async def attach() -> tuple[str, Any]:
        hosted = await HOST.use(caller.snapshot, row.pk)
        return tuple(hosted.client.core.site)

    return _run(attach())


def known(subscriptions: Iterable[SilbopsSubscription]) -> Mapping[tuple[str, int], str]:
    """Ids of subscriptions by the identity of the client and the number that brokers know."""

    async def look() -> dict[tuple[str, int], str]:
        return {
            (row.client.identity, number): row.pk
            for row in subscriptions
            if (number := HOST.number_of(row)) is not None
        }

    return _run(look())


def _run(what: Coroutine[Any, Any, T]) -> T:
    return in_loop(what, ERRORS, as_rest)
