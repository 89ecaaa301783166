"""The middleware of a client behind a gateway: the server sees the client's own signs of life, not the gateway's."""

from __future__ import annotations

from functools import partial

from overlay.systems.radiator.chains.relayed import Relay, RelayedHop
from overlay.systems.radiator.config import Transport
from overlay.systems.radiator.middleware.middleware import Middleware
from overlay.systems.radiator.wire import messages as m


class RelayedMiddleware(Middleware):
    """Shows life, and registers again after silence, only if the client has been heard of since it last did."""

    def __init__(self, config: Transport, instance: int, relay: Relay) -> None:
        super().__init__(config, instance, make_hop=partial(RelayedHop, relay=relay))
        assert isinstance(self.hop, RelayedHop)
        self.relayed: RelayedHop = self.hop
        self._life_at = 0

    def hear(self, now: int) -> None:
        """The client has made a request, or taken a push."""
        self._life_at = now

    def settle(self, push: m.Push, now: int, *, is_received: bool) -> None:
        # After a push that it did not take, an ALIVE would make the server push to it again.
        self._life_at = now if is_received else 0
        self.relayed.settle(push, now, is_received=is_received)

    def report(self, report: m.Report, now: int) -> bool:
        """In the name of this instance. Returns whether there is room for it."""
        assert self._server is not None
        return self.relayed.report(report._replace(instance=self._instance), self._server, now)

    def _show_life(self, now: int) -> None:
        if self._life_at > self._sent_at:
            super()._show_life(now)

    def _shows_life_at(self) -> int | None:
        return super()._shows_life_at() if self._life_at > self._sent_at else None
