"""Messages with many ids or subscriptions, in parts that a message can carry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from overlay.messages.codec import Codec
from overlay.messages.errors import BadMessage
from overlay.messages.kinds import MOST
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.notes import MAX_BYTES
from overlay.systems.federation.wire.values import Notification, Subscription, SubscriptionId

_BYTES_OF_ID: Final = 80
"""At most, in a message: a name of 64 bytes, a number, and what they are in."""
FEW: Final = (MOST - MAX_BYTES) // _BYTES_OF_ID - 5
"""Ids that fit into a message with any notification."""
MANY: Final = MOST // 2 // _BYTES_OF_ID
"""Ids that fit with a notification of at most half a message."""


def shares(several: Sequence[Subscription], notification: Notification) -> Sequence[Sequence[Subscription]]:
    """Subscriptions for NOTIFYs of ``notification``: nearly always one share."""
    if len(several) <= FEW:
        return (several,)
    number = MANY if len(notification.encoded or bytes(MOST)) < MOST // 2 - 1_000 else FEW
    return [several[i : i + number] for i in range(0, len(several), number)]


def portions(sids: tuple[SubscriptionId, ...]) -> Sequence[tuple[SubscriptionId, ...]]:
    """Ids for FORWARDs: at least one portion, nearly always of all."""
    if len(sids) <= FEW:
        return (sids,)
    return [sids[i : i + FEW] for i in range(0, len(sids), FEW)]


def offers(codec: Codec, added: Sequence[Subscription], withdrawn: Sequence[SubscriptionId]) -> Iterator[m.Offer]:
    """What is added comes first. A single subscription fits, as a message brought it."""
    if len(added) + len(withdrawn) <= 1:
        yield m.Offer(tuple(added), tuple(withdrawn))
    elif _fits(codec, message := m.Offer(tuple(added), tuple(withdrawn))):
        yield message
    elif added and withdrawn:
        yield from offers(codec, added, ())
        yield from offers(codec, (), withdrawn)
    else:
        everything: Sequence[Subscription] | Sequence[SubscriptionId] = added or withdrawn
        half = len(everything) // 2
        yield from offers(codec, added[:half], withdrawn[:half])
        yield from offers(codec, added[half:], withdrawn[half:])


def _fits(codec: Codec, message: m.Offer) -> bool:
    try:
        codec.encode(message)
    except BadMessage:
        return False
    return True
