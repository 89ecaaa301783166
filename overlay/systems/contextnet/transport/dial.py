"""A node's attempts to reach a gateway: HELLO by the timer, one gateway after the other, then a pause.

::

    begin ─> HELLO at 0, 1, 3, 7 s, and afresh after RETRY ── 4 s ──> the next gateway ─ after the last one ─> pause
"""

from __future__ import annotations

from collections.abc import Callable

from overlay.channel.deadlines import Owner
from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND, NEVER, SECOND
from overlay.systems.contextnet.transport import layouts
from overlay.systems.contextnet.transport.settings import MOST_BACKOFF
from overlay.systems.contextnet.transport.station import Station


class Dial(Owner):
    """``epoch`` is the last one used; the driver stores it before it sends what waits."""

    def __init__(self, station: Station, epoch: int, greet: Callable[[], None], waits: tuple[int, ...]) -> None:
        """``greet`` sends a HELLO to ``gateway``; ``waits``: seconds after each one, of which the last is followed by
        another gateway."""
        super().__init__()
        self._station, self.epoch = station, epoch
        self._greet, self._waits = greet, waits
        self._gateways: tuple[Address, ...] = ()
        self._place = 0
        """Of the gateway that is tried."""
        self._cycles = 0
        """In which none accepted."""
        self._sent = 0
        """HELLOs since the last beginning or RETRY."""
        self._at = NEVER
        self._cookies: dict[Address, bytes] = {}
        """By gateway, those of ACCEPT, for the next HELLO."""
        self.cookie = b""
        """Of the HELLO under way."""
        self.nonce = b""
        """Of the HELLO under way; empty during a pause and when there is none."""
        self.resume_cid = 0
        self.wants = 0
        self.is_once = False
        self._not_before = 0
        """Before then the gateways are not to be tried again, as one that refused has said."""

    @property
    def gateway(self) -> Address:
        return self._gateways[self._place]

    @property
    def is_active(self) -> bool:
        return self._at != NEVER

    @property
    def is_heard(self) -> bool:
        """Whether a gateway wanted a proof of our address: so it is one, and if it stays silent then, our secret is
        another than it knows."""
        return bool(self.cookie)

    def begin(self, gateways: tuple[Address, ...], *, once: bool = False) -> None:
        """Try these in their order, from now on; or only once."""
        self._gateways, self._place, self._cycles, self.is_once = gateways, 0, 0, once
        self._dial()

    def stop(self) -> None:
        self._at, self.nonce = NEVER, b""
        self._station.deadlines.cancel(self)

    def succeeded(self, next_cookie: bytes) -> None:
        """This gateway accepted."""
        if len(self._cookies) >= layouts.MOST_ADDRESSES:
            self._cookies.clear()
        self._cookies[self.gateway] = next_cookie
        self._cycles = 0
        self.stop()

    def retry(self, cookie: bytes) -> None:
        """The gateway wants this proof of our address."""
        if self.cookie == cookie:
            return  # the same RETRY again
        self._cookies.pop(self.gateway, None)
        self.cookie, self._sent = cookie, 0
        self._send()

    def again(self, epoch: int) -> None:
        """The same gateway, with an epoch above this one."""
        self.epoch = max(self.epoch, epoch)
        self._dial()

    def learn(self, gateways: tuple[Address, ...]) -> None:
        """Alternatives of one that refused, to be tried after the others; not where one of few is to be found."""
        if not self.is_once:
            more = tuple(one for one in gateways if one not in self._gateways)
            self._gateways = (self._gateways + more)[: layouts.MOST_ADDRESSES]

    def next_gateway(self, retry_after_s: int = 0) -> None:
        """``retry_after_s``: what the one that refused asks for before it is tried again."""
        self._not_before = max(self._not_before, self._station.now + retry_after_s * SECOND)
        self._place += 1
        if self._place < len(self._gateways):
            self._dial()
        elif self.is_once:
            self.stop()
        else:
            self.pause()

    def pause(self) -> None:
        """Wait before the next cycle, with full jitter, after what gateways asked for."""
        base = self._station.settings.reconnect_ms * MILLISECOND
        most = min(base << min(self._cycles, 16), MOST_BACKOFF)
        self._place, self.nonce = 0, b""
        self._cycles += 1
        asked = max(0, self._not_before - self._station.now)
        self._wait(asked + 1 + round(self._station.chance.random() * most))

    def _dial(self) -> None:
        """Each HELLO to another gateway has a nonce of its own, and each nonce an epoch."""
        self.epoch += 1
        self.nonce = self._station.draw(16)
        self.cookie = self._cookies.get(self.gateway, b"")
        self._sent = 0
        self._send()

    def _send(self) -> None:
        self._greet()
        self._wait(self._waits[self._sent] * SECOND)
        self._sent += 1

    def _wait(self, time: int) -> None:
        self._at = self._station.now + time
        self._station.deadlines.set(self, self._at)

    def earliest(self) -> int:
        return self._at

    def ring(self, now: int) -> None:
        self._station.now = now
        if not self.nonce:
            self._dial()
        elif self._sent < len(self._waits):
            self._send()
        else:
            self.next_gateway()
