"""A network of gateways around PoA managers in virtual time: what is asked of nodes happens at once."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.node import SECOND
from overlay.log.node import Assignment, Subscription
from overlay.log.topics import Append, Record
from overlay.systems.contextnet.poa.manager import GROUP, PoaManager
from overlay.systems.contextnet.poa.ranks import Rank
from overlay.systems.contextnet.poa.settings import PoaSettings
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records import names as n
from overlay.systems.contextnet.records import records as r

LOAD_REPORT_S = 5
WALL_NS = 1_700_000_000 * SECOND
PART = 1_000


def address_of(name: str) -> Address:
    return f"192.0.2.{int(name.rpartition('-')[2]) + 1}", 5_000


def node_id(number: int) -> bytes:
    return number.to_bytes(16, "big")


class Log:
    """Each record goes to each manager; a partition of the common group is given by the test."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def append(self, appends: Sequence[Append], now: int) -> list[Record]:
        new = [
            Record(one.topic, 0, len(self.records) + place, one.key, one.value, (now + WALL_NS) // 1_000)
            for place, one in enumerate(appends)
        ]
        self.records += new
        return new


@dataclass
class FakeGateway:
    capacity: int
    nodes: dict[bytes, int] = field(default_factory=dict)
    """With their epochs."""
    is_running: bool = True
    limit: int = 20_000


class Bed:
    def __init__(
        self,
        settings: PoaSettings,
        capacities: dict[str, int],
        noise: float = 0.0,
        seed: int = 1,
        rank: Rank | None = None,
    ) -> None:
        self.settings, self.noise, self.rank = settings, noise, rank
        self.chance = Random(seed)
        self.log = Log()
        self.gateways = {name: FakeGateway(capacity) for name, capacity in capacities.items()}
        self.managers: list[PoaManager] = []
        self.now = 0
        self.seq = 0
        self.moves: list[tuple[int, bytes]] = []
        """Second and node of each."""
        self.epochs: dict[bytes, int] = defaultdict(int)
        self.obeys = True

    # ---- managers

    def owned(self, subscription: Subscription) -> Assignment:
        """Its only partition."""
        return Assignment(subscription.topic, subscription.group, 0, 0)

    def start(self, number: int, *, is_acting: bool = True) -> PoaManager:
        """One that first reads all that there is."""
        manager = PoaManager(
            f"poa-{number}", ("127.0.0.1", 7_000), self.settings, LOAD_REPORT_S, Chances.streams(1), WALL_NS, self.rank
        )
        self.managers.append(manager)
        own = [s for s in manager.subscriptions() if s.group != GROUP]
        manager.assigned(list(map(self.owned, own)), self.now)
        self.feed(manager, [one for one in self.log.records if one.topic in {s.topic for s in own}])
        if is_acting:
            self.let_act(manager)
        return manager

    def let_act(self, manager: PoaManager) -> None:
        (common,) = (s for s in manager.subscriptions() if s.group == GROUP)
        manager.assigned([self.owned(common)], self.now)
        oldest_us = (self.now + WALL_NS) // 1_000 - common.since_s * 1_000_000
        self.feed(
            manager, [one for one in self.log.records if one.topic == n.HANDOVER and one.appended_us >= oldest_us]
        )
        self.pump()

    def feed(self, manager: PoaManager, records: Sequence[Record]) -> None:
        wanted = {s.topic for s in manager.subscriptions() if s.group != GROUP or manager.is_acting}
        manager.receive_records([one for one in records if one.topic in wanted], self.now)
        manager.check_invariants()

    # ---- records

    def say(self, topic: str, key: str, value: object) -> None:
        self.tell([Append(topic, key.encode(), codec.write(value))])

    def tell(self, appends: Sequence[Append]) -> None:
        records = self.log.append(appends, self.now)
        for record in records:
            if record.topic == n.HANDOVER:
                self._obey(record.key.decode(), codec.read(record.topic, record.value))
        for manager in self.managers:
            self.feed(manager, records)

    def pump(self) -> None:
        for manager in self.managers:
            while appends := manager.records_to_append():
                self.tell(appends)
                manager.appended([one.token for one in appends if one.token is not None], self.now)
            manager.positions_to_commit()

    def _obey(self, source: str, order: r.HandOver) -> None:
        self.moves.append((self.now // SECOND, order.node))
        if not self.obeys:
            return
        target = next(name for name in self.gateways if address_of(name) == order.targets[0])
        assert order.node in self.gateways[source].nodes, "the node was where the manager took it to be"
        del self.gateways[source].nodes[order.node]
        self.connect(order.node, target)

    # ---- nodes and gateways

    def connect(self, node: bytes, name: str) -> None:
        self.epochs[node] += 1
        self.gateways[name].nodes[node] = self.epochs[node]

    def hello(self, name: str, incarnation: int = 1) -> None:
        self.say(n.HELLO_POA, name, r.HelloPoa(name, address_of(name), incarnation, self.gateways[name].limit))

    def _load(self, name: str, gateway: FakeGateway) -> None:
        count = len(gateway.nodes)
        cpu = min(1.0, max(0.0, count / gateway.capacity + self.chance.gauss(0, self.noise)))
        self.seq += 1
        memory = r.Amount(1_000, 900)
        self.say(
            n.LOAD_REPORT,
            name,
            r.LoadReport(name, self.seq, self._wall_us(), 256, 0, cpu, memory, memory, count, 0, 0, 0, 0),
        )

    def _report(self, name: str, gateway: FakeGateway) -> None:
        held = [r.Held(node, epoch) for node, epoch in sorted(gateway.nodes.items())]
        pongs = [r.Pong(node, 1_000 + self.chance.randrange(1_000)) for node, _ in held]
        parts = max(1, -(-len(held) // PART))
        self.seq += 1
        for part in range(parts):
            chosen = slice(part * PART, (part + 1) * PART)
            at = self._wall_us()
            self.say(
                n.CONNECTION_REPORT,
                name,
                r.ConnectionReport(
                    name, self.seq, at, at, 2_000, len(held), tuple(pongs[chosen]), tuple(held[chosen]), part, parts
                ),
            )

    def _wall_us(self) -> int:
        return (self.now + WALL_NS) // 1_000

    # ---- time

    def run(self, seconds: int) -> None:
        for _ in range(seconds):
            self.now += SECOND
            second = self.now // SECOND
            for name, gateway in self.gateways.items():
                if not gateway.is_running:
                    continue
                if second % LOAD_REPORT_S == 0:
                    self._load(name, gateway)
                if second % self.settings.ping_period_s == 0:
                    self._report(name, gateway)
            for manager in self.managers:
                due = manager.next_timer()
                if due is not None and due <= self.now:
                    manager.handle_timer(self.now)
                    manager.check_invariants()
                    after = manager.next_timer()
                    assert after is not None
                    assert after > self.now
            self.pump()

    # ---- what is seen

    def loads(self) -> dict[str, float]:
        return {name: len(one.nodes) / one.capacity for name, one in self.gateways.items() if one.is_running}

    def unevenness(self) -> float:
        """Highest load over the mean of those that run."""
        loads = self.loads().values()
        return max(loads) / (sum(loads) / len(loads)) if sum(loads) else 1.0

    def moves_between(self, start: int, end: int) -> int:
        return sum(1 for second, _ in self.moves if start <= second < end)

    def most_moves(self) -> int:
        return max(Counter(node for _, node in self.moves).values(), default=0)

    def said(self, topic: str) -> list[tuple[str, object]]:
        return [(one.key.decode(), codec.read(one.topic, one.value)) for one in self.log.records if one.topic == topic]


def started(
    settings: PoaSettings,
    capacities: dict[str, int],
    nodes: int,
    noise: float = 0.0,
    seed: int = 1,
    rank: Rank | None = None,
) -> Bed:
    """All nodes at the first gateway; one manager that acts."""
    bed = Bed(settings, capacities, noise, seed, rank)
    first = next(iter(capacities))
    for number in range(nodes):
        bed.connect(node_id(number), first)
    bed.start(0)
    for name in capacities:
        bed.hello(name)
    bed.pump()
    return bed
