"""How long messages are kept (contract, section 6)."""

from __future__ import annotations

from typing import Final

from overlay.systems.contextnet.mtd.settings import CREATED, UNIFORM, MtdSettings
from overlay.systems.contextnet.records.records import Message

SPARE_S: Final = 60
"""A message is not kept longer than the log keeps its record, from which it may have to be read again, less this."""
US: Final = 1_000_000
"""Microseconds of a second."""


class Lifetimes:
    def __init__(self, settings: MtdSettings, retention_s: float) -> None:
        """``retention_s``: for how long the log keeps records."""
        self._most_us = max(1, int(retention_s) - SPARE_S) * US
        self._default_us = settings.ttl_default_s * US
        self._is_uniform = settings.ttl_policy == UNIFORM
        self._is_from_creation = settings.expiry_from == CREATED

    def ttl_us(self, message: Message) -> int:
        by_default = self._is_uniform or not message.ttl_s
        return min(self._default_us if by_default else message.ttl_s * US, self._most_us)

    def expires_us(self, message: Message, stored_us: int) -> int:
        """Unix µs. A message from the future counts as made when it was stored."""
        begin = min(message.created_at, stored_us) if self._is_from_creation else stored_us
        return begin + self.ttl_us(message)
