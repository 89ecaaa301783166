"""When the calls and the faults of a plan are. All faults are over when the storm is; some who crashed stay away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from overlay.core.addresses import Address
from overlay.sim.simulator import Actor, Outgoing
from overlay.systems.radiator.middleware.calls import Result
from overlay.systems.radiator.middleware.membership import State
from overlay.systems.radiator.wire.codec import parse
from overlay.systems.radiator.wire.messages import Ack
from tests.radiator.swarm.plan import PLACES, Plan
from tests.radiator.swarm.world import SERVER, STRANGER, Person, World

STORM_S = 20.0
BEFORE_S = 2.0
"""Of registration, before the storm."""


def draw_attributes(random: Random, name: str) -> dict[str, Any]:
    """Those of a registration; some are missing at times."""
    names = ["Ann", "Bob", "Cid", "Dan"]
    everything = {
        "x": random.randrange(4),
        "zone": random.choice("ab"),
        "friends": random.sample(names, random.randrange(3)),
        "location": random.choice(PLACES),
    }
    return {"name": name, **{key: value for key, value in everything.items() if random.random() < 0.9}}


class Storm:
    """Schedules everything that happens in ``world`` from now on."""

    def __init__(self, world: World, random: Random) -> None:
        self._world, self._random, self._plan = world, random, world.plan
        self._number = 0
        self._has_ended = False
        faults: dict[str, Callable[[], None]] = {
            "crash": self._crash,
            "crash at push": self._crash_at_push,
            "churn": self._churn,
            "takeover": self._take_over,
            "reused address": self._reuse_address,
            "attributes": self._change,
            "restart": self._restart,
            "shutdown": self._shut_down,
            "partition": self._separate,
            "one way": self._separate_one_way,
            "slow clients": self._slow,
            "cut": self._cut,
            "stranger": self._let_a_stranger_in,
        }
        self._schedule_calls(self._plan)
        for fault, schedule in faults.items():
            if fault in self._plan.faults:
                schedule()
        world.at(STORM_S, self._end)

    def _end(self) -> None:
        self._has_ended = True
        self._world.life.server.fault({"what": "cut"}, False, self._world.now)
        self._world.simulator.wake(self._world.life.actor)
        self._world.clear_links()

    def _span(self) -> tuple[float, float]:
        begin, end = sorted(self._random.uniform(0, STORM_S - 1) for _ in range(2))
        return begin, end

    def _some(self) -> Person | None:
        alive = self._world.alive()
        return self._random.choice(alive) if alive else None

    # ---- calls

    def _schedule_calls(self, plan: Plan) -> None:
        bursts = [self._random.uniform(0, STORM_S) for _ in range(3)]
        for _ in range(plan.calls if plan.pace != "closed" else plan.clients):
            at = self._random.choice(bursts) if plan.pace == "bursts" else self._random.uniform(0, STORM_S)
            self._world.at(at, self._call)

    def _call(self) -> None:
        person = self._some()
        if person is None:
            return
        call = self.say(person)
        if self._plan.pace == "closed":
            self._when_over(person, call)

    def _when_over(self, person: Person, call: Any) -> None:
        """The next call of a closed loop."""
        if call.result is not Result.OPEN or not person.is_there:
            self._world.at(0.2, self._call_again)
        elif not self._has_ended:
            self._world.at(0.2, lambda: self._when_over(person, call))

    def _call_again(self) -> None:
        if not self._has_ended and self._number < self._plan.calls:
            self._call()

    def say(self, person: Person) -> Any:
        self._number += 1
        drawn = draw_attributes(self._random, f"m{self._number}")
        if self._random.random() < 0.5:
            drawn = {name: value for name, value in drawn.items() if name in ("name", "x", "zone")}
        padding = self._random.choice(self._plan.paddings)
        return self._world.call(person, {**drawn, "data": "y" * padding} if padding else drawn)

    # ---- clients

    def _crash(self) -> None:
        for _ in range(self._random.randint(1, 3)):
            self._world.at(self._span()[0], self._crash_one)

    def _crash_one(self) -> None:
        person = self._some()
        if person is not None:
            self._crash_and_return(person)

    def _come_back(self, person: Person) -> None:
        if self._random.random() < 0.7:
            after = self._random.choice([0.0, 0.3, 3.0])
            port = person.address[1] if self._random.random() < 0.7 else person.address[1] + 1_000
            self._world.at(after, lambda: self._start(person, port))

    def _start(self, person: Person, port: int) -> None:
        """Another instance with the same key."""
        if not self._has_ended and not self._world.simulator.is_taken((person.key[0], port)):
            attributes = draw_attributes(self._random, person.attributes["name"])
            other = self._world.join(person.key, port, attributes, is_p2p=person.is_p2p)
            self._world.at(1, lambda: self._try_again(other, 20))

    def _try_again(self, person: Person, times: int) -> None:
        """After a refusal, since the earlier instance was reachable."""
        if person.is_there and person.state is State.REFUSED:
            self._world.register(person)
        if times and person.is_there:
            self._world.at(1, lambda: self._try_again(person, times - 1))

    def _crash_at_push(self) -> None:
        """Between acknowledging and forwarding."""
        chosen = {self._random.randrange(self._plan.clients) for _ in range(2)}

        def crash(person: Person) -> None:
            number = int(person.key[1][-5:])
            if number in chosen and not self._has_ended:
                chosen.remove(number)
                self._world.at(0, lambda: self._crash_now(person))

        self._world.on_delivered.append(crash)

    def _crash_now(self, person: Person) -> None:
        """Nothing that it would send in this instant leaves, except ACKs."""
        middleware = person.middleware
        middleware._out = [(data, to) for data, to in middleware._out if isinstance(parse(data), Ack)]
        self._world.at(1e-6, lambda: self._crash_and_return(person))

    def _crash_and_return(self, person: Person) -> None:
        self._world.crash(person)
        self._come_back(person)

    def _churn(self) -> None:
        for _ in range(self._random.randint(1, 3)):
            self._world.at(self._span()[0], self._leave_one)

    def _leave_one(self) -> None:
        person = self._some()
        if person is not None:
            self._world.leave(person)
            port = person.address[1] + 2_000
            self._world.at(self._random.choice([0.01, 0.5, 3]), lambda: self._start(person, port))

    def _take_over(self) -> None:
        self._world.at(self._span()[0], self._take_over_one)

    def _take_over_one(self) -> None:
        """A second instance with a key that is in use; it gets it if the first one is not reachable."""
        person = self._some()
        if person is not None:
            if self._random.random() < 0.5:
                self._world.crash(person)
            self._start(person, person.address[1] + 3_000)

    def _reuse_address(self) -> None:
        self._world.at(self._span()[0], self._reuse_one_address)

    def _reuse_one_address(self) -> None:
        """Another client has the address of one that crashed, which the server has not noticed."""
        person = self._some()
        if person is not None:
            self._world.crash(person)
            key, attributes = (person.key[0], f"other-{person.key[1]}"), draw_attributes(self._random, "other")
            self._world.join(key, person.address[1], attributes, is_p2p=person.is_p2p)

    def _change(self) -> None:
        for _ in range(self._random.randint(1, 5)):
            self._world.at(self._span()[0], self._change_one)

    def _change_one(self) -> None:
        person = self._some()
        if person is not None and person.state is State.REGISTERED:
            person.attributes = draw_attributes(self._random, person.attributes["name"])
            person.is_p2p = person.is_p2p != (self._random.random() < 0.2)
            self._world.register(person)

    # ---- the server

    def _restart(self) -> None:
        at = self._span()[0]
        for _ in range(3):
            self._world.at(max(0, at - self._random.choice([0.001, 0.03, 0.3])), self._call)
        self._world.at(at, lambda: self._restart_after(in_peace=False))

    def _shut_down(self) -> None:
        self._world.at(self._span()[0], lambda: self._restart_after(in_peace=True))

    def _restart_after(self, *, in_peace: bool) -> None:
        if self._world.simulator.is_taken(SERVER):
            self._world.stop_server(in_peace=in_peace)
            self._world.at(self._random.choice([0.0, 0.5, 1.0]), self._world.start_server)

    def _cut(self) -> None:
        begin, end = self._span()
        for at, begins in ((begin, True), (end, False)):
            self._world.at(at, lambda begins=begins: self._fault(begins=begins))

    def _fault(self, *, begins: bool) -> None:
        life = self._world.life
        if self._world.simulator.is_taken(SERVER):
            life.server.fault({"what": "cut"}, begins, self._world.now)
            self._world.simulator.wake(life.actor)

    # ---- links

    def _islands(self) -> list[list[Address]]:
        addresses = [SERVER, *dict.fromkeys(person.address for person in self._world.people)]
        sides: list[list[Address]] = [[], []]
        for address in addresses:
            sides[self._random.random() < 0.3].append(address)
        return sides

    def _separate(self) -> None:
        begin, end = self._span()
        self._world.at(begin, lambda: self._world.simulator.network.separate(*self._islands()))
        self._world.at(end, lambda: self._world.simulator.network.heal())

    def _separate_one_way(self) -> None:
        begin, end = self._span()
        ways = [(a, b) for a in self._islands()[0] for b in self._islands()[1] if a != b]
        for at, shape in ((begin, replace(self._plan.shape, partition=True)), (end, self._plan.shape)):
            self._world.at(at, lambda shape=shape: self._lay(ways, shape))

    def _lay(self, ways: list[tuple[Address, Address]], shape: Any) -> None:
        for source, to in ways:
            self._world.simulator.network.lay_one_way(source, to, shape)

    def _slow(self) -> None:
        """All links of some clients, until the end of the storm."""
        slow = replace(self._plan.shape, delay_ms=self._random.choice([300, 1_500]))
        everyone = [SERVER, *(person.address for person in self._world.people)]
        for address in everyone[1:]:
            if self._random.random() < 0.3:
                self._lay([(address, other) for other in everyone if other != address], slow)

    def _let_a_stranger_in(self) -> None:
        self._world.simulator.listen(STRANGER, Stranger(self._world, self._random))


class Stranger(Actor):
    """Repeats and garbles what it hears of others, from an address of its own."""

    def __init__(self, world: World, random: Random) -> None:
        super().__init__()
        self._random, self._left, self._waiting = random, 200, list[Outgoing]()
        self._world = world
        world.simulator.on_sent.append(self._hear)

    def _hear(self, now: int, data: bytes, source: Address, to: Address) -> None:
        if source != STRANGER and to != STRANGER and self._left and self._random.random() < 0.2:
            self._left -= 1
            target = self._random.choice([SERVER, to])
            self._waiting.append((self._garbled(data), STRANGER, target))
            self._world.simulator.wake(self)

    def _garbled(self, data: bytes) -> bytes:
        what, found = self._random.random(), bytearray(data)
        if what < 0.3:
            found[self._random.randrange(len(found))] ^= 1 << self._random.randrange(8)
        elif what < 0.5:
            del found[self._random.randrange(len(found)) :]
        elif what < 0.6:
            found += self._random.randbytes(5)
        return bytes(found)

    def receive(self, data: bytes, source: Address, to: Address, now: int) -> None:
        """It answers no client."""

    def step(self, now: int) -> list[Outgoing]:
        waiting, self._waiting = self._waiting, []
        return waiting

    def next_timer(self) -> None:
        return None
