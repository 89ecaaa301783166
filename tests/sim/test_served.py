"""Actors that take time: they queue for their core, wake late, and answer when they are done."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.curves import RANKS, Delays, constant
from overlay.core.engines import SIMULATED
from overlay.core.links import LinkShape
from overlay.core.node import MILLISECOND, SECOND
from overlay.core.service_times import Costs, Deliveries, Memory, ServiceModel
from overlay.deployment.deployment import Deployment
from overlay.journal.facts import Sample
from overlay.journal.journal import read_journal
from overlay.sim.engine import simulate
from overlay.sim.network import Network
from overlay.sim.served import Services
from overlay.sim.simulator import WALL_OFFSET_NS, Simulator
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.system import SYSTEM
from overlay.systems.context_broker.wire.codec import encode
from overlay.systems.context_broker.wire.messages import (
    BrokerJoining,
    ContextRequest,
    ContextUpdateAdvertisement,
    Ping,
    StartNeighborsMonitoring,
)

BROKER, CLIENT, OTHER = ("127.1.0.1", 7000), ("127.3.0.1", 1025), ("127.1.0.2", 7000)
WALL_MS = WALL_OFFSET_NS // MILLISECOND


def always(us: float) -> Delays:
    return Delays((1.0,), (tuple(us for _ in RANKS),))


BROKER_COSTS = Costs(
    batch_us=10,
    other_us=5,
    sent_us=5,
    work_us={"compared": constant(1.0), "matched": constant(2.0)},
    memory=Memory(0, 0, 0),
)
IDLE_CLIENT = Costs(0, 0, 0)
MODEL = ServiceModel(
    roles={"broker": BROKER_COSTS, "providers": IDLE_CLIENT, "consumers": IDLE_CLIENT},
    deliveries=Deliveries(to_server=always(100), between=always(40), to_client=always(0), timer=always(0)),
)


def delayed(**changed: Delays) -> ServiceModel:
    """The model with other deliveries."""
    return replace(MODEL, deliveries=replace(MODEL.deliveries, **changed))


class Stage:
    """One broker, at which datagrams arrive at given instants; what it sends is noted with the microsecond."""

    def __init__(self, model: ServiceModel = MODEL, **config: Any) -> None:
        self.sent: list[tuple[float, bytes, Address]] = []
        self.simulator = Simulator(Network(1, LinkShape()), strict=False)
        self.simulator.on_sent.append(self._note)
        self.broker = Broker(BrokerConfig(**config), BROKER, Chances.streams(1), WALL_OFFSET_NS)
        self.actor = Services(SYSTEM, model, 1, {BROKER: "broker", OTHER: "broker"}).server(BROKER, self.broker)
        self.simulator.listen(BROKER, self.actor)

    def arrive(self, at_us: float, data: bytes, source: Address = CLIENT) -> None:
        at = round(at_us * 1000)
        self.simulator.at(at, lambda: self._deliver(data, source, at))

    def run(self) -> list[float]:
        """When it sent something, in microseconds."""
        self.simulator.run_until(self.simulator.now + SECOND)
        return [at for at, _, _ in self.sent]

    def _deliver(self, data: bytes, source: Address, now: int) -> None:
        self.actor.receive(data, source, BROKER, now)
        self.simulator.wake(self.actor)

    def _note(self, now: int, data: bytes, source: Address, to: Address) -> None:
        self.sent.append((now / 1000, data, to))


def ping() -> bytes:
    return encode(Ping(WALL_MS))


def update(provider: str, entity: str = "r1") -> bytes:
    return encode(
        ContextUpdateAdvertisement(
            WALL_MS, "A", provider, "room", entity, "climate", WALL_MS - 1000, WALL_MS + 60_000, b"a=1"
        )
    )


def test_a_datagram_waits_for_the_waking_and_its_answer_for_the_service() -> None:
    stage = Stage()
    stage.arrive(1000, ping())
    assert stage.run() == [1000 + 100 + 10 + 5 + 5]


def test_brokers_are_heard_after_a_delay_of_their_own() -> None:
    stage = Stage()
    stage.arrive(1000, ping(), OTHER)
    assert stage.run() == [1000 + 40 + 10 + 5 + 5]


def test_what_arrives_while_it_wakes_is_served_at_once_and_together() -> None:
    stage = Stage()
    stage.arrive(1000, ping())
    stage.arrive(1050, ping())
    assert stage.run() == [1000 + 100 + 10 + 2 * 5 + 2 * 5] * 2


def test_what_arrives_while_it_is_busy_waits_until_it_is_free_and_needs_no_waking() -> None:
    stage = Stage()
    stage.arrive(1000, ping())
    stage.arrive(1105, ping())
    assert stage.run() == [1120, 1120 + 20]


def test_who_floods_a_broker_waits_longer_than_who_asks_once() -> None:
    stage, flooder = Stage(), ("127.3.0.9", 1025)
    for i in range(2_000):
        stage.arrive(1000 + i / 100, ping(), flooder)
    stage.arrive(1500, ping())
    stage.run()
    when = {to: [at for at, _, other in stage.sent if other == to] for to in (CLIENT, flooder)}
    assert len(when[flooder]) == 2_000, "there is room for so many"
    assert when[CLIENT][0] < when[flooder][500]


def test_a_small_backlog_is_served_in_the_order_in_which_it_came() -> None:
    stage = Stage()
    for i in range(200):
        stage.arrive(1000 + i / 100, ping(), (CLIENT[0], 2000 + i % 3 % 2))
    stage.run()
    assert [to[1] for _, _, to in stage.sent] == [2000 + i % 3 % 2 for i in range(200)]


def test_a_linear_table_is_charged_for_what_it_scans_and_an_indexed_one_is_not() -> None:
    took = {}
    for table in ("indexed", "linear"):
        stage = Stage(table=table, trace_one_in=0)
        for i in range(20):
            stage.arrive(i, update(f"p{i}"))
        stage.arrive(500_000, encode(ContextRequest(WALL_MS, "room", "r1", "climate")))
        took[table] = stage.run()[-1] - 500_000
    assert took["linear"] - took["indexed"] == 20 * (1 + 2)


def test_a_processor_sleeps_less_deeply_while_anybody_on_the_machine_is_awake() -> None:
    """10 µs to wake within a millisecond of the last that ran, 200 µs after a tenth of a second of silence."""
    model = delayed(to_server=Delays((0.001, 0.1), ((10.0,) * len(RANKS), (200.0,) * len(RANKS))))

    def took(*neighbours_at_us: int) -> float:
        stage = Stage(model)
        services = Services(SYSTEM, model, 1, {BROKER: "broker", OTHER: "broker"})
        stage.actor = services.server(BROKER, stage.broker)
        other = services.server(OTHER, Broker(BrokerConfig(), OTHER, Chances.streams(2), WALL_OFFSET_NS))
        stage.simulator.listen(OTHER, other)
        for at in neighbours_at_us:
            stage.simulator.at(at * 1000, lambda now=at * 1000: other.receive(ping(), CLIENT, OTHER, now))
            stage.simulator.at(at * 1000, lambda: stage.simulator.wake(other))
        asker = ("127.3.0.1", 2000)
        stage.arrive(200_000, ping(), asker)
        stage.run()
        return next(at for at, _, to in stage.sent if to == asker) - 200_000

    assert took() == 200 + 20
    assert took(199_000) == 10 + 20


def test_delays_are_drawn_from_the_seed() -> None:
    uneven = Delays((1.0,), (tuple(100 * rank for rank in RANKS),))

    def run(seed: int) -> list[float]:
        stage = Stage(delayed(to_server=uneven))
        stage.actor = Services(SYSTEM, delayed(to_server=uneven), seed, {BROKER: "broker"}).server(BROKER, stage.broker)
        for at in range(0, 100_000, 1000):
            stage.arrive(at, ping())
        return stage.run()

    assert run(7) == run(7) != run(8)


arrivals = st.lists(st.integers(0, 2000), min_size=1, max_size=60)


@settings(max_examples=60)
@given(arrivals)
def test_everything_is_answered_in_the_order_in_which_it_came_and_never_before(times: list[int]) -> None:
    stage = Stage()
    for number, at in enumerate(sorted(times)):
        stage.arrive(at, ping(), ("127.3.0.1", 2000 + number))
    answered = stage.run()
    assert len(answered) == len(times)
    assert [to[1] for _, _, to in stage.sent] == list(range(2000, 2000 + len(times)))
    assert answered == sorted(answered)
    assert all(end - begin >= 10 + 5 + 5 for begin, end in zip(sorted(times), answered, strict=True))


def test_what_a_timer_sends_is_late_by_its_waking_and_the_service() -> None:
    pinged = []
    for late in (0, 500):
        stage = Stage(delayed(timer=always(late)), ping_interval_ms=100)
        stage.arrive(0, encode(BrokerJoining(WALL_MS, (BROKER,), passed_on=True)), OTHER)
        stage.arrive(1000, encode(StartNeighborsMonitoring(WALL_MS)))
        stage.run()
        pinged.append([at for at, data, to in stage.sent if to == OTHER and data.startswith(b"1|")])
    assert pinged[1][1] - pinged[0][1] == 500


def response_times(model: ServiceModel, directory: Path, brokers: int, **settings: Any) -> list[tuple[int, int]]:
    """Of a run with one provider at one broker of a line: of each request its broker and its microseconds."""
    document = {
        "id": "served",
        "kind": "run",
        "epoch": 1,
        "directory": str(directory),
        "seed": 3,
        "system": "context-broker",
        "topology": {"brokers": brokers, "links": [{"a": i, "b": i + 1} for i in range(brokers - 1)]},
        "settings": {"monitoring": False, "replication_index": 0, **settings},
        "workload": {
            "providers": 1,
            "consumers": 4,
            "update_interval_s": 10,
            "request_interval_s": 1,
            "duration_s": 3,
            "assignment": "round-robin",
        },
        "lease_s": 60,
    }
    simulate(Deployment.from_json(document, SIMULATED), model)
    return [
        (fact.broker, fact.ended_us - fact.intended_us)
        for path in sorted((directory / "journal").iterdir())
        for fact in read_journal(path)
        if isinstance(fact, Sample) and (fact.role, fact.phase) == ("consumer", "measuring")
    ]


SLOW_CLIENT = Costs(batch_us=0, other_us=9, sent_us=50)
SLOW_CLIENTS = replace(
    delayed(timer=always(7), to_client=always(60)),
    roles={"broker": BROKER_COSTS, "providers": SLOW_CLIENT, "consumers": SLOW_CLIENT},
)


def test_a_response_time_is_the_sum_of_waking_delivery_and_service(tmp_path: Path) -> None:
    """A client's other work does not delay the answers of other clients."""
    answered = 10 + 5 + 3 * 5
    assert {us for _, us in response_times(SLOW_CLIENTS, tmp_path, 1)} == {7 + 100 + answered + 60}


def test_where_clients_send_last_a_request_waits_for_its_writing(tmp_path: Path) -> None:
    last = replace(SLOW_CLIENT, sends_last=True)
    model = replace(SLOW_CLIENTS, roles={"broker": BROKER_COSTS, "providers": last, "consumers": last})
    written, answered = 50, 10 + 5 + 3 * 5
    assert {us for _, us in response_times(model, tmp_path, 1)} == {7 + written + 40 + answered + 60}


def test_an_answer_from_further_on_costs_a_service_and_a_delivery_at_each_broker(tmp_path: Path) -> None:
    here, passed_on, there, relayed = 10 + 5 + 3 * 5, 10 + 5 + 2 * 5, 10 + 5 + 5, 10 + 5 + 2 * 5
    own, further = 7 + 100 + here + 60, 7 + 100 + passed_on + 40 + there + 40 + relayed + 60
    times = dict(response_times(SLOW_CLIENTS, tmp_path, 2))
    assert sorted(times.values()) == [own, further]
