"""The queue of a broker's modelled processor."""

from __future__ import annotations

from collections.abc import Iterator

from overlay.core.chance import Chance
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.wire import messages as m


class Processor:
    def __init__(self, settings: Settings, is_mobile: bool, chance: Chance) -> None:
        self.is_instant = not settings.service_ms
        """Whether messages take no time, so that they need not be queued."""

    def __len__(self) -> int:
        """Messages waiting or in service."""
        raise NotImplementedError

    def arrive(self, peer: str, message: m.Message, now: int) -> None:
        raise NotImplementedError

    def served(self, now: int) -> Iterator[tuple[str, m.Message]]:
        """Those whose service has ended by ``now``, in the order in which they take effect."""
        raise NotImplementedError

    def next_timer(self) -> int | None:
        raise NotImplementedError

    def check_invariants(self) -> None:
        raise NotImplementedError
