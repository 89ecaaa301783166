"""When the list of gateways is written again (contract, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from overlay.systems.contextnet.records.records import GatewayList, Ranked

MOST_MOVE: Final = 0.2
"""Of a score, before it is told."""


class Lists:
    def __init__(self, period_ns: int) -> None:
        self._period_ns = period_ns
        self.current = GatewayList(0, ())
        self._at = 0

    @property
    def due(self) -> int:
        """When it is to be written again, though nothing changes."""
        return self._at + self._period_ns

    def heard(self, current: GatewayList, at: int) -> None:
        """A manager has written it."""
        if current.version >= self.current.version:
            self.current, self._at = current, at

    def next(self, gateways: Sequence[Ranked], now: int, least_version: int) -> GatewayList | None:
        """The list to write now, if any. None is ever empty: nodes would have nowhere to go."""
        if not gateways or not (now >= self.due or self._differs(gateways)):
            return None
        ordered = sorted(gateways, key=lambda one: (-one.score, one.gateway))
        self.heard(GatewayList(max(self.current.version + 1, least_version), tuple(ordered)), now)
        return self.current

    def _differs(self, gateways: Sequence[Ranked]) -> bool:
        former = {(one.gateway, one.address): one.score for one in self.current.gateways}
        return len(former) != len(gateways) or any(
            (score := former.get((one.gateway, one.address))) is None or abs(one.score - score) > MOST_MOVE * score
            for one in gateways
        )
