"""A core that several actors share serves them as if each had its own timer, in far fewer steps."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from overlay.core.addresses import Address
from overlay.core.chance import Stream
from overlay.core.curves import RANKS, Delays
from overlay.core.links import LinkShape
from overlay.core.service_times import Costs, Deliveries
from overlay.sim.network import Network
from overlay.sim.processors import Core, Machine, SharedCore
from overlay.sim.served import Incoming, Served, Timing
from overlay.sim.simulator import Actor, Outgoing, Simulator
from overlay.systems.context_broker.system import SYSTEM
from tests.thorough import examples

THROWER = ("127.3.0.2", 2000)


class Player(NamedTuple):
    core: int
    costs_ns: tuple[int, ...]
    """In turn."""
    timers: tuple[int, ...]
    """When it throws a ball to the next player."""


class Ball(NamedTuple):
    at: int
    way: tuple[int, ...]
    """The players that catch it, one after the other."""


class Game(NamedTuple):
    players: tuple[Player, ...]
    balls: tuple[Ball, ...]
    late_us: float
    """The time from a throw's arrival until an idle player takes it."""


class Catcher(Served):
    """Throws each ball on, with what is left of its way."""

    heeds_wakes = False
    sends_last = False

    def __init__(self, number: int, game: Game, machine: Machine, core: Core, log: list[tuple[int, int, int]]) -> None:
        self._number, self._log, self._served = number, log, 0
        _, self._costs_ns, timers = game.players[number]
        self._timers, self._next = list(timers), (number + 1) % len(game.players)
        late = Delays((1.0,), ((game.late_us,) * len(RANKS),))
        timing = Timing(Costs(0, 0, 0), SYSTEM.make_meter(None, "consumers"), Deliveries(late, late, late, late), {})
        Served.__init__(self, timing, machine, core, Stream(number), lambda: self._timers[0] if self._timers else None)
        Actor.__init__(self)

    def _serve(self, batch: Sequence[Incoming], now: int) -> Sequence[Outgoing]:
        self._log.append((now, self._number, len(batch)))
        thrown = [(data[1:], data[0]) for data, _, _ in batch if data]
        while self._timers and self._timers[0] <= now:
            thrown.append((b"", self._next))
            del self._timers[0]
        return [(data, address(self._number), address(to)) for data, to in thrown]

    def _cost_ns(self, batch: Sequence[Incoming], outgoing: Sequence[Outgoing], idle_ns: int) -> int:
        self._served += 1
        return self._costs_ns[self._served % len(self._costs_ns)]

    def _delivery(self, source: Address) -> Delays:
        return self._deliveries.to_client


class Thrower(Actor):
    """Throws each ball first."""

    def __init__(self, balls: Sequence[Ball]) -> None:
        super().__init__()
        self._balls = sorted(balls)

    def receive(self, data: bytes, source: Address, to: Address, now: int) -> None:
        raise AssertionError("no actor throws to it")

    def step(self, now: int) -> Sequence[Outgoing]:
        due = [ball for ball in self._balls if ball.at <= now]
        del self._balls[: len(due)]
        return [(bytes(ball.way[1:]), THROWER, address(ball.way[0])) for ball in due]

    def next_timer(self) -> int | None:
        return self._balls[0].at if self._balls else None


class EachWithItsTimer(SharedCore):
    def queues(self, actor: Actor) -> bool:
        return False


def address(number: int) -> Address:
    return "127.3.0.1", 2000 + number


def play(game: Game, make_core: type[SharedCore]) -> tuple[list[tuple[int, int, int]], str, int]:
    """When each player was served and with how many balls, the digest, and the number of steps."""
    log: list[tuple[int, int, int]] = []
    simulator, machine = Simulator(Network(1, LinkShape()), strict=False), Machine()
    cores = [make_core(simulator) for _ in range(2)]
    for number, player in enumerate(game.players):
        simulator.listen(address(number), Catcher(number, game, machine, cores[player.core], log))
    simulator.listen(THROWER, Thrower(game.balls))
    simulator.run_until(10**9)
    return log, simulator.digest, simulator.stepped


times = st.integers(1, 40).map(lambda tens: 10 * tens)
"""Often equal, and equal to ends of services."""
costs = st.lists(st.sampled_from([0, 10, 10, 20, 30, 50]), min_size=1, max_size=3).map(tuple)
timers = st.lists(times, max_size=3, unique=True).map(lambda drawn: tuple(sorted(drawn)))


@st.composite
def games(draw: st.DrawFn) -> Game:
    players = draw(st.lists(st.builds(Player, st.integers(0, 1), costs, timers), min_size=2, max_size=7).map(tuple))
    way = st.lists(st.integers(0, len(players) - 1), min_size=1, max_size=6).map(tuple)
    balls = draw(st.lists(st.builds(Ball, times, way), min_size=1, max_size=12).map(tuple))
    return Game(players, balls, draw(st.sampled_from([0.0, 0.01, 0.03])))


IDLE = Player(0, (0,), ())
LONGER_SECOND = Game(
    (Player(0, (10,), ()), IDLE, IDLE, IDLE), (Ball(10, (0, 1)), Ball(10, (2,)), Ball(10, (3,)), Ball(10, (0, 0))), 0.0
)
"""Two groups become one, and the second is the longer."""


@settings(max_examples=examples(300))
@given(games())
@example(LONGER_SECOND)
def test_all_are_served_as_if_each_had_its_own_timer(game: Game) -> None:
    assert play(game, SharedCore)[:2] == play(game, EachWithItsTimer)[:2]


@pytest.mark.parametrize("players", [50, 200])
def test_a_push_to_many_takes_a_few_steps_for_each(players: int) -> None:
    game = Game((Player(0, (10,), (10**8,)),) * players, tuple(Ball(100, (i,)) for i in range(players)), 0.02)
    together, alone = play(game, SharedCore), play(game, EachWithItsTimer)
    assert together[:2] == alone[:2]
    assert together[2] < 10 * players < players**2 / 2 < alone[2]


def test_an_actor_that_waits_for_its_core_steps_because_of_news_when_the_core_is_free():
    """Otherwise its log and the simulator told each other of these news for ever, in one instant."""
    core = SharedCore(Simulator(Network(1)))
    core.free_at = 1_000
    one = Catcher(0, Game((Player(0, (10,), ()),), (), 0.0), Machine(), core, [])
    assert one.notice(0) == 1_000
    assert one.step(500) == ()
    assert one.notice(500) == 1_000
