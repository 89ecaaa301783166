"""What applications do in a network by way of HTTP. Blocking: call it in Django's threads.

Everything raises ``InvalidSetting``, ``NotPossible``, ``NotAnswered`` and errors of REST.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from rest_framework.exceptions import NotFound

from brokerweb.front.budgets import count_in_thread
from brokerweb.hosting.views import Caller, check_url, in_loop
from brokerweb.kit.errors import NotPossible
from brokerweb.operationlog import recording
from brokerweb.operationlog.entries import PUT, REST
from brokerweb.systems.contextnet.doors.host import HOST
from brokerweb.systems.contextnet.doors.places import place_of
from brokerweb.systems.contextnet.doors.problems import ERRORS, as_rest, asked
from brokerweb.systems.contextnet.doors.rows import ROWS
from brokerweb.systems.contextnet.models import Subscription
from overlay.core.errors import InvalidSetting
from overlay.programs.contextnet.application import Sent
from overlay.programs.contextnet.logs import Dropped
from overlay.systems.contextnet.message_json import node_read, payload_read
from overlay.systems.contextnet.records.names import INBOUND, UNSENT
from overlay.systems.contextnet.records.records import ALL, Presence

T = TypeVar("T")
MOST_DISCARDED = 1_000
"""Messages in a list."""


# ---- nodes


def nodes(caller: Caller) -> Sequence[Presence]:
    """Those that were ever connected, by id."""
    return asked(place_of(caller.snapshot).log.nodes)


def node(caller: Caller, id: str) -> Presence:
    found = asked(place_of(caller.snapshot).log.node, node_read(id))
    if found is None:
        raise NotFound(f"No node {id} was ever connected to this network.")
    return found


def discarded(caller: Caller) -> Sequence[Dropped]:
    """Messages that did not reach their node, the newest first."""
    return asked(place_of(caller.snapshot).log.discarded, MOST_DISCARDED)[:MOST_DISCARDED]


# ---- messages


def send(caller: Caller, body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns once the log has it."""
    to, payload = _destination(body), payload_read(body)
    if body["ttl_s"] and not isinstance(to, bytes):
        raise InvalidSetting("ttl_s", "is of messages to one node only: others are not stored")
    count_in_thread(caller.who, 1)
    row = ROWS.kept(caller.network, caller.user, body["application"])

    async def send() -> Sent:
        application = (await HOST.use(caller.snapshot, row.pk)).client
        if isinstance(to, bytes):
            sent: Sent = await application.send(to, payload, ttl_s=body["ttl_s"])
        else:
            sent = await application.cast(to, payload)
        return sent

    with recording.noted(caller.network, caller.who, REST, PUT, ("send",), row.name):
        sent = _run(send())
    return {
        "id": sent.message.id.hex(),
        "application": row.name,
        "topic": sent.topic,
        "is_stored": sent.topic == UNSENT,
    }


def _destination(body: Mapping[str, Any]) -> bytes | str:
    """A node, or a group."""
    given = [name for name in ("node", "group", "all") if body.get(name)]
    if len(given) != 1:
        raise InvalidSetting("node", "or group or all must be given, and one of them only")
    if given[0] == "node":
        return node_read(body["node"])
    return ALL if given[0] == "all" else str(body["group"])


# ---- subscriptions


def subscribe(caller: Caller, body: Mapping[str, Any]) -> Subscription:
    """Returns once messages come."""
    check_url(body["url"])
    known = (INBOUND, *place_of(caller.snapshot).settings.topics_allowed)
    if body["topic"] not in known:
        raise InvalidSetting("topic", f"must be one of {', '.join(known)}, not {body['topic']}")
    node = node_read(body["node"]).hex() if body["node"] else ""
    of = ROWS.kept(caller.network, caller.user, body["application"])
    row = ROWS.subscribe(of, topic=body["topic"], node=node, url=body["url"])
    try:
        _run(HOST.use(caller.snapshot, of.pk))
    except BaseException:
        row.delete()
        raise
    return row


def position(caller: Caller) -> str:
    """The id of the last event of the network's streams."""
    return _run(HOST.position(caller.network))


def unsubscribe(row: Subscription) -> None:
    ROWS.remove([row.pk])
    _run(HOST.withdraw(row.client_id, [row.pk]))


def unregister(caller: Caller, name: str) -> None:
    """An application with its subscriptions, and what the log knows of it."""
    row = ROWS.client(caller.network, caller.user, name)
    id = row.pk
    row.delete()
    _run(HOST.unregister(id))
    with suppress(NotPossible):  # it does not run: its log is erased, or what is left of one application stays there
        place = place_of(caller.snapshot)
        place.log.forget(f"web-{id}", (INBOUND, *place.settings.topics_allowed))


def _run(what: Coroutine[Any, Any, T]) -> T:
    return in_loop(what, ERRORS, as_rest)
