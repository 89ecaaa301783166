"""A broker in a test: say something to it from a named address, read what it sends to whom, let time pass.

Nothing sleeps: ``wait`` jumps from one timer of the broker to the next. Invariants are checked after every step.
"""

from itertools import count

from overlay.core.addresses import format_address
from overlay.core.chance import Chances
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.config import BrokerConfig

WALL = 1_700_000_000_000
"""Unix milliseconds at ``now`` 0."""
INSIDE = "10.0.0.0/8"

A, B, C, D, E, K = ((f"10.0.0.{i}", 4000 + i) for i in range(1, 7))
"""Brokers A, B, D, E, the consumer or provider C, and the controller K."""
STRANGER = ("203.0.113.7", 4007)
NAMES = {A: "A", B: "B", C: "C", D: "D", E: "E", K: "K", STRANGER: "STRANGER"}


def hop(*addresses):
    return "".join(f"|{host}|{port}" for host, port in addresses)


class Talk:
    """One broker, A unless told otherwise, with its sent datagrams as ``(name, text)``."""

    def __init__(self, *neighbours, address=A, seed=1, **settings):
        settings = {"controller_networks": INSIDE, "trusted_networks": INSIDE, **settings}
        self.broker = Broker(BrokerConfig(**settings), address, Chances.streams(seed), WALL * MILLISECOND)
        self.now = 0
        self._stamps = count(1)
        for neighbour in neighbours:
            self.hear(neighbour, f"8|1|{format_address(address)}|*")

    @property
    def wall(self):
        return WALL + self.now // MILLISECOND

    def hear(self, source, text):
        """Feed one datagram; what the broker sends at once."""
        data = text if isinstance(text, bytes) else text.encode()
        self.broker.receive_datagram(data, source, self.now)
        return self._sent()

    def wait(self, ms):
        """Let time pass; what the broker sends meanwhile, each with the milliseconds waited."""
        start, end, sent = self.now, self.now + ms * MILLISECOND, []
        while (timer := self.broker.next_timer()) is not None and timer <= end:
            self.now = max(self.now, timer)
            self.broker.handle_timer(self.now)
            sent += [((self.now - start) // MILLISECOND, name, text) for name, text in self._sent()]
            following = self.broker.next_timer()
            assert following is None or following > self.now, "a timer that does not move on is a busy loop"
        self.now = end
        return sent

    def provide(self, key="room|r1|temp", *, provider="p1", stamp=None, valid=(-1000, 120_000), payload="degC=21.5"):
        """An advertisement from C, its validity relative to now in milliseconds."""
        stamp = self.wall if stamp is None else stamp
        begin, end = (self.wall + edge for edge in valid)
        size = len(payload.encode())
        return self.hear(C, f"2|{stamp}|{size}|A|{provider}|{key}|{begin}|{end}|{payload}")

    def ask(self, key="room|r1|temp", *, source=C, hops=(), stamp=None):
        """A request with a fresh timestamp."""
        stamp = self.wall + next(self._stamps) if stamp is None else stamp
        return self.hear(source, f"3|{stamp}|{key}{hop(*hops)}")

    def stats(self):
        return self.broker.statistics(self.now)

    def ack(self, status, operation, to=C):
        return NAMES[to], f"5|{self.wall}|ACK|Status:{status}|Operation {operation}|Requested by {format_address(to)}"

    def nack(self, status, operation, stamp, to=C):
        return NAMES[to], f"6|{stamp}|NACK|Status:{status}|Operation {operation}|Requested by {format_address(to)}"

    def _sent(self):
        self.broker.check_invariants()
        return [(NAMES[to], data.decode()) for data, to in self.broker.datagrams_to_send()]
