"""A simulated network that nobody assembles: brokers and clients that know a bootstrap list only."""

from __future__ import annotations

from overlay.core.addresses import Address
from overlay.core.chance import Chances, Stream, derive_seed
from overlay.core.links import LinkShape
from overlay.core.node import SECOND
from overlay.load.choice import STAY_NS, Wish
from overlay.sim.actors import CheckedActor, ClientActor, NodeActor
from overlay.sim.network import Network
from overlay.sim.simulator import WALL_OFFSET_NS, Simulator
from overlay.sim.world import server_address
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.clients.exchange import WallClock
from overlay.systems.context_broker.clients.roaming import LOOK_NS, Provision, Request, RoamingClient
from overlay.systems.context_broker.joining_broker import JoiningBroker

DELAY = LinkShape(delay_ms=5)


class Application:
    """What a client does: it provides one entity and asks for another one until it has it."""

    def __init__(self, village: Village, number: int, asks_for: int) -> None:
        self.village = village
        self.number = number
        self.resident = village.residents[number]
        self.about = "room", f"r{asks_for}", "temp"
        self.provision: Provision | None = None
        self.request: Request | None = None
        self.working_at: int | None = None

    def begin(self) -> None:
        now = self.village.simulator.now
        self.resident.renew(self.village.listed, now)
        key = "room", f"r{self.number}", "temp"
        self.provision = self.resident.provide(f"p{self.number}", key, b"degC=21", 600_000, now)
        self.look()

    def look(self) -> None:
        """Ask, or ask again; by then what it asks for may have been provided."""
        simulator, now = self.village.simulator, self.village.simulator.now
        if self.request is None or self.request.outcome not in ("", "answered"):
            self.request = self.resident.ask(self.about, now, now + 10 * SECOND)
        simulator.wake(self.village.actors[self.number])
        assert self.provision is not None
        if self.request.outcome == "answered" and self.provision.at is not None:
            self.working_at = self.working_at or now
        else:
            simulator.at(now + SECOND // 4, self.look)


class Village:
    """``listed`` is the bootstrap list. Nothing happens before ``simulator`` runs."""

    def __init__(
        self,
        seed: int,
        brokers: int,
        clients: int,
        listed: list[Address] | None = None,
        *,
        wish: str = "latency",
        is_checked: bool = False,
        look_ns: int = LOOK_NS,
        stay_ns: int = STAY_NS,
        delay: LinkShape = DELAY,
        **settings: object,
    ) -> None:
        self.listed = listed or [server_address(0)]
        self.simulator = Simulator(Network(seed, delay), strict=False)
        self.config = BrokerConfig(**settings).among(brokers)
        self.seed, self.is_checked = seed, is_checked
        self.brokers: dict[int, NodeActor] = {}
        self.wall = WallClock(WALL_OFFSET_NS)
        for index in range(brokers):
            self.start(index)
        self.residents = [
            RoamingClient(
                number,
                self.wall,
                Stream(derive_seed(seed, "resident", number)),
                Wish(wish, f"c{number}"),
                look_ns=look_ns,
                stay_ns=stay_ns,
            )
            for number in range(clients)
        ]
        self.actors = [ClientActor(self.simulator, one, _host(one.identity[1])) for one in self.residents]
        if is_checked:
            self.simulator.on_stepped.append(lambda now, actor: _check(actor))

    def start(self, index: int) -> None:
        """A broker that knows the list."""
        address = server_address(index)
        chances = Chances.streams(derive_seed(self.seed, "broker", index))
        broker = JoiningBroker(
            Broker(self.config, address, chances, WALL_OFFSET_NS),
            self.config,
            WALL_OFFSET_NS,
            Stream(derive_seed(self.seed, "newcomer", index)),
        )
        self.brokers[index] = (CheckedActor if self.is_checked else NodeActor)(address, broker)
        self.simulator.listen(address, self.brokers[index])
        broker.renew(self.listed, self.simulator.now)
        self.simulator.wake(self.brokers[index])

    def kill(self, index: int) -> None:
        self.simulator.remove(self.brokers.pop(index))

    def parts(self) -> int:
        """Into how many parts the overlay of the brokers is divided."""
        index_of = {server_address(index): index for index in self.brokers}
        unseen, count = set(self.brokers), 0
        while unseen:
            count += 1
            ahead = [unseen.pop()]
            while ahead:
                neighbours = self.brokers[ahead.pop()].node.neighbours
                for one in {index_of[address] for address in neighbours if address in index_of} & unseen:
                    unseen.discard(one)
                    ahead.append(one)
        return count


def _host(number: int) -> str:
    return f"127.3.{number // 250}.{number % 250 + 1}"


def _check(actor: object) -> None:
    if isinstance(actor, ClientActor):
        actor.client.check_invariants()
