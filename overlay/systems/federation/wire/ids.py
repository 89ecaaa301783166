"""The ids in messages, which are written as they are: tuples."""

from __future__ import annotations

from typing import NamedTuple


class SubscriptionId(NamedTuple):
    """*sid*: the numbers of a client only rise."""

    client: str
    number: int


class NotificationId(NamedTuple):
    """*nid*: the numbers of a provider only rise."""

    provider: str
    number: int
