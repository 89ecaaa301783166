"""Brokers that take their time: what a datagram, a scan or a sleep costs is small, but enough that others wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from overlay.core.addresses import Address
from overlay.core.chance import Stream, derive_seed
from overlay.core.curves import RANKS, Curve, Delays, constant
from overlay.core.service_times import Costs, Deliveries, ServiceModel
from overlay.sim.processors import Machine
from overlay.sim.served import Incoming, ServedServer, Timing
from overlay.sim.simulator import Outgoing
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.system import SYSTEM


def model(scale: float) -> ServiceModel:
    """About what a broker takes, ``scale`` times over: 0.1 ms for a datagram, up to 0.4 ms until it is read."""

    def late(most_us: float) -> Delays:
        return Delays(
            (0.0, 1.0), tuple(tuple(scale * most_us * (1 + sleep) * rank for rank in RANKS) for sleep in (0, 1))
        )

    broker = Costs(
        batch_us=30 * scale,
        other_us=30 * scale,
        sent_us=15 * scale,
        kilobyte_us=5 * scale,
        received_us={"ContextRequest": 40 * scale},
        extra_us={"ContextRequest": 20 * scale, "QuietRequest": 20 * scale},
        work_us={
            "scans": constant(2 * scale),
            "compared": Curve((0.0, 1.0), (1 * scale, 3 * scale)),
            "matched": constant(1 * scale),
        },
        cold_us=Curve((0.0, 1.0), (0.0, 40 * scale)),
    )
    return ServiceModel({"broker": broker}, Deliveries(late(150), late(100), late(100), late(200)))


class CheckedServed(ServedServer):
    """Asserts its broker's invariants after each service."""

    def _serve(self, batch: Sequence[Incoming], now: int) -> Sequence[Outgoing]:
        outgoing = super()._serve(batch, now)
        self.node.check_invariants()
        timer = self.node.next_timer()
        assert timer is None or timer > now, f"{self.address} was served at {now} ns and its timer stays at {timer} ns"
        return outgoing


class Processors:
    """Makes the actors of one overlay; each has a processor to itself."""

    def __init__(self, scale: float, seed: int, brokers: Collection[Address]) -> None:
        self._model, self._seed, self._brokers = model(scale), seed, dict.fromkeys(brokers, "broker")
        self._machine = Machine()
        self._lives: Counter[Address] = Counter()

    def __call__(self, address: Address, broker: Broker) -> CheckedServed:
        self._lives[address] += 1
        chance = Stream(derive_seed(self._seed, "service", *address, self._lives[address]))
        meter = SYSTEM.make_meter(broker, "broker")
        timing = Timing(self._model.server("broker"), meter, self._model.deliveries, self._brokers)
        return CheckedServed(address, broker, timing, self._machine, chance)
