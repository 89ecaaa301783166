"""Remembers which broker accepted the latest value of an entity through REST, so that it is asked first.

If a provider's usual broker does not answer, updates go to the next one. When the usual broker returns with its table,
it would serve its older value until that expires, because the protocol has no message about it. Updates sent to brokers
by UDP are not tracked. Kept in the web process: after its restart, answers are those of the brokers.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

from overlay.core.addresses import Address

MOST = 50_000
"""Entries of all networks, the latest used: 25 MB."""

Key = tuple[str, str, str]


class Holder(NamedTuple):
    """Who has the latest stored value."""

    broker: Address
    process: Any
    """Of the broker when it accepted it; another one has an empty table."""
    stamp_ms: int
    """Unix milliseconds, not later than the header timestamp of the update."""
    provider: str
    until_ms: int
    """The end of its validity."""


class Holders:
    """By network and entity."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._held: OrderedDict[tuple[str, Key], Holder] = OrderedDict()

    def note(self, network: str, key: Key, holder: Holder) -> None:
        """``holder.broker`` acknowledged it. An earlier value does not replace a later one."""
        known = self._held.get((network, key))
        if known is not None and known.stamp_ms > holder.stamp_ms:
            return
        self._held[network, key] = holder
        self._held.move_to_end((network, key))
        if len(self._held) > self._most:
            self._held.popitem(last=False)

    def forget(self, network: str, key: Key, provider: str, stamp_ms: int) -> None:
        """What this provider stored up to ``stamp_ms`` is withdrawn."""
        known = self._held.get((network, key))
        if known is not None and known.provider == provider and known.stamp_ms <= stamp_ms:
            del self._held[network, key]

    def of(self, network: str, key: Key, now_ms: int) -> Holder | None:
        """Of the latest value that is still valid."""
        known = self._held.get((network, key))
        if known is None or known.until_ms <= now_ms:
            return None
        return known
