"""What a broker reports of single notifications, subscriptions and queries."""

from __future__ import annotations

from dataclasses import dataclass

STEPS = (
    # of a notification
    "published",  # by an own provider, and matched
    "received",  # from a neighbour, and matched
    "matched",  # subscriptions of a neighbour want it
    "duplicate",  # came again, and was dropped
    "looped",  # had passed here before, and was dropped
    "filtered",  # no subscription wants it at that neighbour
    "forwarded",  # to a neighbour
    "stored",  # for a neighbour without a session
    "sent later",  # what was stored, to the neighbour
    "notified",  # to an own client
    "held",  # for a client that is invalid or has no session
    "returned",  # the session ended before it was acknowledged
    # of a subscription
    "subscribed",  # by an own client
    "answered",  # from the cache; of a query: by a provider or neighbour
    "told",  # to a neighbour
    "learned",  # from a neighbour
    "offered",  # to an own provider
    # of a query
    "asked",  # by a client or neighbour
    "asks",  # a provider or neighbour
    "timed out",  # a provider or neighbour did not answer
    "replied",  # to who asked
)


@dataclass(frozen=True, slots=True)
class Stepped:
    at: int
    """When it took effect, ns."""
    arrived: int
    """When the message that led to it had arrived: before it waited for the modelled processor."""
    about: str
    """``n|PROVIDER|NUMBER``, ``s|CLIENT|NUMBER`` or ``q|PEER|NUMBER`` (``tracing``)."""
    step: str
    """One of ``STEPS``."""
    peer: str
    """A broker or a client."""
    subscriptions: list[str]
    """That it satisfies there, as ``c0|17``."""
    detail: str
