"""An attacker outside all trusted networks, which sends harmful messages to brokers from its own address."""

from collections.abc import Iterable
from random import Random

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.sim.simulator import WALL_OFFSET_NS, Actor, Outgoing
from overlay.sim.world import server_address
from overlay.systems.context_broker.wire.codec import encode
from overlay.systems.context_broker.wire.extensions import (
    BrokerGone,
    FindBrokers,
    HopAck,
    HopData,
    IndirectPing,
    Lookahead,
    QuietRequest,
    ReplicaConfirm,
    ReplicaRefresh,
    StoreData,
)
from overlay.systems.context_broker.wire.messages import (
    Ack,
    BrokerJoining,
    BrokerLeaving,
    ContextRequest,
    ContextResponse,
    ContextUpdateAdvertisement,
    Nack,
    NeighborsResponse,
    Ping,
    PingResponse,
    StartNeighborsMonitoring,
    Status,
)
from overlay.systems.context_broker.wire.table import OPERATIONS, AnyMessage
from telemetry.systems.context_broker.lab.overlay import Overlay

HOST = "192.0.2.66"
"""Of a network that is kept for documentation (RFC 5737)."""


class Stranger(Actor):
    def __init__(self, overlay: Overlay, random: Random) -> None:
        super().__init__()
        self._overlay = overlay
        self._random = random
        self._outgoing: list[Outgoing] = []
        self._address: Address = (HOST, 6666)
        overlay.simulator.listen(self._address, self)

    def receive(self, data: bytes, source: Address, to: Address, now: int) -> None:
        """It does not listen."""

    def step(self, now: int) -> Iterable[Outgoing]:
        outgoing, self._outgoing = self._outgoing, []
        return outgoing

    def next_timer(self) -> None:
        return None

    def speak(self) -> None:
        """One datagram to any broker."""
        to = server_address(self._random.randrange(self._overlay.graph.brokers))
        data = self._garbage() if self._random.random() < 0.2 else encode(self._message())
        self._outgoing.append((data, self._address, to))
        self._overlay.simulator.wake(self)

    def _garbage(self) -> bytes:
        code = self._random.choice([*range(10), 16, 22, 26, 33, 77])
        return b"%d|%d|what|%d" % (code, self._random.randrange(1 << 40), self._random.randrange(9))

    def _message(self) -> AnyMessage:
        random, brokers = self._random, self._overlay.graph.brokers
        stamp = (self._overlay.simulator.now + WALL_OFFSET_NS) // MILLISECOND
        victim = server_address(random.randrange(brokers))
        key = ("room", f"r{random.randrange(4)}", "climate")
        forged = (stamp, "p0", *key, stamp - 1, stamp + 60_000, b"forged=1")
        return random.choice(
            [
                StartNeighborsMonitoring(stamp),
                Ping(stamp),
                ContextUpdateAdvertisement(stamp, "U", "stranger", *key, stamp, stamp + 5_000, b"n=1"),
                ContextRequest(stamp, *key),
                ContextRequest(stamp, *key, (victim,)),
                QuietRequest(stamp, *key),
                ContextResponse(*forged),
                ContextResponse(*forged, (victim,), frozenset({0})),
                Ack(stamp, Status.REQ_RECEIVED, OPERATIONS[8], victim),
                Nack(stamp, Status.DATA_NOT_FOUND, OPERATIONS[3], victim, (victim,)),
                BrokerLeaving(stamp),
                BrokerLeaving(stamp, passed_on=True),
                BrokerJoining(stamp, (victim,)),
                BrokerJoining(stamp, (victim,), passed_on=True),
                PingResponse(stamp, victim),
                NeighborsResponse(stamp, (victim,)),
                Lookahead(stamp, 3, *key, (victim,)),
                BrokerGone(stamp, 2, victim),
                HopData(stamp, 1, encode(ContextRequest(stamp, *key, (victim,)))),
                HopAck(stamp, 1),
                IndirectPing(stamp, victim),
                FindBrokers(stamp, "0" * 40),
                StoreData(*forged),
                ReplicaRefresh(*forged),
                ReplicaConfirm(stamp, "p1", *key, stamp),
            ]
        )
