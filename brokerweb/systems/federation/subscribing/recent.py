"""Recent notifications of a network: those in the caches of its brokers, the newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.networks.models import Network
from brokerweb.systems.federation.watching.inspecting import asked_at, brokers
from overlay.systems.federation import notification_json
from overlay.systems.federation.subjects import Subject
from overlay.systems.federation.wire.values import Notification, NotificationId

MOST = 200
"""Notifications that are tried."""
MOST_BROKERS = 64
"""Brokers that are asked; further ones hold what these have routed, too, or little of it."""


@dataclass(frozen=True, slots=True)
class Recent:
    notification: Notification
    brokers: list[int] = field(default_factory=list, compare=False)
    """Those in whose caches it is."""


@dataclass(frozen=True, slots=True)
class Found:
    notifications: Sequence[Recent]
    asked: int
    """Brokers that answered."""
    scopes: Sequence[str]
    """Those of the notifications, and of the providers that are registered."""


def recent(network: Network) -> Found:
    """Raises ``NotPossible`` and ``NotAnswered`` if no broker answers."""
    found: dict[NotificationId, Recent] = {}
    scopes: set[str] = set()
    answered, trouble = 0, None
    for index, address in list(brokers(network).items())[:MOST_BROKERS]:
        try:
            with asked_at(address) as broker:
                rows = broker.rows(Subject.CACHE, limit=MOST).rows
                clients = broker.rows(Subject.CLIENTS, limit=MOST).rows
        except (NotAnswered, NotPossible) as error:
            trouble = error
            continue
        answered += 1
        scopes.update(scope for client in clients for scope in client["scopes"])
        for row in rows:
            one = notification_json.read(row)
            found.setdefault(one.id, Recent(one)).brokers.append(index)
    if not answered:
        raise trouble or NotPossible(f"This network is {network.state} and has no running broker.")
    newest = sorted(found.values(), key=lambda one: (-one.notification.timestamp, one.notification.id))[:MOST]
    return Found(newest, answered, sorted({*scopes, *(one.notification.scope for one in newest)}))
