"""What applications do in a network by way of HTTP, whatever the format. Blocking: call it in Django's threads.

Everything raises ``InvalidSetting``, ``NotPossible``, ``NotAnswered`` and errors of REST.
"""

from __future__ import annotations

import re
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from brokerweb.front.budgets import count_in_thread
from brokerweb.hosting.shapes import wrong_name
from brokerweb.hosting.views import Caller, check_url, in_loop
from brokerweb.networks import broker_index
from brokerweb.operationlog import recording
from brokerweb.operationlog.entries import GET, LIST, PUT, REST
from brokerweb.systems.federation.doors import rows
from brokerweb.systems.federation.doors.host import HOST
from brokerweb.systems.federation.doors.problems import ERRORS, as_rest
from brokerweb.systems.federation.models import ClientRole, Format, HostedClient, HostedSubscription
from overlay.core.errors import InvalidSetting, shown
from overlay.systems.federation.clients.live import Wanted
from overlay.systems.federation.clients.provider import Content
from overlay.systems.federation.names import SERVICE
from overlay.systems.federation.wire.values import Advertisement, Found, Notification

ANY = "*"
"""In the operation log, of an entity that was not named."""
_SERVER = re.compile(rf"b[0-9]+|{SERVICE}")
T = TypeVar("T")


# ---- clients


def advertise(caller: Caller, me: Advertisement, broker: int | None = None) -> HostedClient:
    """Register a client, or change what it advertises. Returns once a broker has acknowledged."""
    if _SERVER.fullmatch(me.id):
        raise InvalidSetting("name", f"{me.id} is the name of a server")
    if wrong := wrong_name(me.id, has_slashes=True):
        raise InvalidSetting("name", wrong)
    check_url(me.url)
    if broker is not None:
        broker_index.below(caller.snapshot.servers - 1, broker)
    former = HostedClient.objects.filter(network=caller.network, name=me.id).first()
    row, is_new = rows.keep_client(caller.network, caller.user, me, broker)
    try:
        _run(HOST.use(caller.snapshot, row.pk))
    except BaseException:
        if is_new:
            row.delete()
        elif former is not None:
            rows.restore(former)
        raise
    row.refresh_from_db()
    return row


def keep_alive(caller: Caller, name: str) -> None:
    """Its registration is kept anyway; this says whether there is one."""
    _run(HOST.use(caller.snapshot, rows.client(caller.network, caller.user, name).pk))


def unregister(caller: Caller, name: str, role: ClientRole | None = None) -> None:
    """With its subscriptions."""
    row = rows.client(caller.network, caller.user, name, role)
    id = row.pk
    row.delete()
    _run(HOST.unregister(id))


# ---- subscriptions


def subscribe(
    caller: Caller,
    asked: Sequence[tuple[int | None, Wanted]],
    *,
    client: str | None = None,
    url: str = "",
    format: Format = Format.JSON,
) -> list[HostedSubscription]:
    """All or none; each with the number that its consumer gave. Returns once the broker has acknowledged.

    ``client``: a registered consumer, whose URL is notified if none is given; ``None``: that of the account.
    """
    check_url(url)
    if client is None:
        of = rows.own_consumer(caller.network, caller.user)
    else:
        of = rows.client(caller.network, caller.user, client, ClientRole.CONSUMER)
    made, new = rows.subscribe(of, asked, url or of.url, format)
    try:
        _run(HOST.subscribe(caller.snapshot, of.pk, made))
    except BaseException:
        rows.remove(new)
        raise
    return made


def position(caller: Caller) -> str:
    """The id of the last event of the network's streams."""
    return _run(HOST.position(caller.network))


def unsubscribe(client: str, ids: Sequence[str]) -> None:
    """``client``: the id of its row."""
    rows.remove(ids)
    _run(HOST.withdraw(client, ids))


# ---- context


def publish(caller: Caller, provider: str, content: Content) -> Notification:
    """Returns once the provider's broker has accepted it."""
    row = rows.client(caller.network, caller.user, provider, ClientRole.PROVIDER)
    if content.scope not in row.scopes:
        raise InvalidSetting("scope", f"{provider} has not registered {shown(content.scope)}")
    count_in_thread(caller.who, 1)
    key = (content.entity_type, content.entity_id, content.scope)

    async def publish() -> tuple[Notification, str]:
        hosted: Any = await HOST.use(caller.snapshot, row.pk)
        return await hosted.publish(content), hosted.client.site.id

    with recording.noted(caller.network, caller.who, REST, PUT, key, provider) as said:
        made, broker = _run(publish())
        said["broker_index"] = _index(broker)
    return made


def query(
    caller: Caller, scopes: Sequence[str], entity_type: str | None, entity_id: str | None, within_s: float
) -> tuple[Notification, ...]:
    """Context now."""
    row = rows.own_consumer(caller.network, caller.user)
    count_in_thread(caller.who, 1)
    key = (entity_type or ANY, entity_id or ANY, " ".join(scopes))

    async def query() -> tuple[tuple[Notification, ...], str]:
        hosted: Any = await HOST.use(caller.snapshot, row.pk)
        asked = hosted.client.query(scopes, entity_type=entity_type, entity_id=entity_id, within_s=within_s)
        return await asked, hosted.client.site.id

    with recording.noted(caller.network, caller.who, REST, GET, key) as said:
        found, broker = _run(query())
        said["broker_index"] = _index(broker)
    return found


def lookup(caller: Caller, scope: str) -> tuple[Found, ...]:
    """The providers of a scope."""
    row = rows.own_consumer(caller.network, caller.user)
    count_in_thread(caller.who, 1)

    async def lookup() -> tuple[Found, ...]:
        hosted: Any = await HOST.use(caller.snapshot, row.pk)
        found: tuple[Found, ...] = await hosted.client.lookup(scope)
        return found

    with recording.noted(caller.network, caller.who, REST, LIST, [f"scope={scope}"]):
        return _run(lookup())


def _run(what: Coroutine[Any, Any, T]) -> T:
    return in_loop(what, ERRORS, as_rest)


def _index(broker: str) -> int | None:
    return int(broker[1:]) if broker[1:].isdigit() else None
