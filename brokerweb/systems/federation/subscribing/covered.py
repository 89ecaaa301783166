"""Which subscriptions make a composed one needless on links between brokers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from overlay.systems.federation.clients.live import Wanted
from overlay.systems.federation.covering.covers import Coverable
from overlay.systems.federation.wire.values import Subscription, SubscriptionId

T = TypeVar("T")


def covering(composed: Wanted, others: Iterable[tuple[T, Wanted]]) -> Sequence[T]:
    """Those of ``others`` that cover ``composed``, by the rule of the links (``covering.covers``)."""
    narrow = _coverable(composed)
    return [one for one, wanted in others if _coverable(wanted).covers(narrow)]


def _coverable(wanted: Wanted) -> Coverable:
    """Ids do not count where two are compared."""
    scopes, expires, expression, priority, once = wanted
    return Coverable.of(Subscription(SubscriptionId("", 0), scopes, expires, expression, priority, once))
