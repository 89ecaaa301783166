"""A state machine of two to four channels over a bad network: anything may happen at any time, and the oracle holds."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from overlay.channel import ChannelSettings
from overlay.core.links import LinkShape
from tests.channel.lossy import World, numbers_after
from tests.thorough import THOROUGH

IDS = (b"b0", b"b1", b"b2", b"b3")
SHAPES = [
    LinkShape(delay_ms=1),
    LinkShape(delay_ms=15, loss=0.3, loss_burst_limit=3),
    LinkShape(delay_ms=5, jitter_ms=5, reordering=0.5, reordering_ms=30),
    LinkShape(delay_ms=2, duplication=0.5, reordering=0.3, reordering_ms=400),
    LinkShape(delay_ms=10, corruption=0.3, loss=0.1),
    LinkShape(delay_ms=750),
]
two = st.lists(st.integers(0, 3), min_size=2, max_size=2, unique=True)


class Machine(RuleBasedStateMachine):
    @initialize(
        count=st.integers(2, 4),
        window=st.sampled_from([1, 4, 70, 300]),
        queue=st.sampled_from([3, 20, 10_000]),
        give_up_s=st.sampled_from([0, 0.5, 5]),
        tries=st.sampled_from([0, 1, 8]),
        probe_s=st.sampled_from([0, 5]),
        seed=st.integers(0, 2**32),
        offset=st.sampled_from([0, 2**32 - 3]),
        shape=st.sampled_from(SHAPES),
    )
    def begin(self, count, window, queue, give_up_s, tries, probe_s, seed, offset, shape):
        settings = ChannelSettings(window, queue, 200, give_up_s, tries, probe_s)
        self.ids = IDS[:count]
        self.numbers = numbers_after(offset)
        self.numbers.__enter__()
        self.world = World(self.ids, settings, shape, seed)
        self.world.open(b"b0", b"b1")
        self.world.run(30)

    def pick(self, pair):
        a, b = (self.ids[i % len(self.ids)] for i in pair)
        return (a, b) if a != b else (self.ids[0], self.ids[1])

    @rule(pair=two, keep=st.booleans())
    def open(self, pair, keep):
        self.world.open(*self.pick(pair), keep)

    @rule(pair=two)
    def cross(self, pair):
        a, b = self.pick(pair)
        self.world.open(a, b)
        self.world.open(b, a)

    @rule(
        pair=two, sizes=st.lists(st.integers(30, 700), min_size=1, max_size=30), drop=st.sampled_from([None, 0, 1, 2])
    )
    def send(self, pair, sizes, drop):
        a, b = self.pick(pair)
        for i, size in enumerate(sizes):
            self.world.send(a, b, size, drop if i % 2 else None)

    @rule(ms=st.sampled_from([1, 10, 25, 100, 1_000, 8_000]))
    def wait(self, ms):
        self.world.run(ms)

    @rule(ms=st.sampled_from([60, 600, 1_500, 5_000]))
    def stall(self, ms):
        self.world.stall(ms)

    @rule(pair=two)
    def pause(self, pair):
        self.world.pause(*self.pick(pair))

    @rule(pair=two)
    def resume(self, pair):
        self.world.resume(*self.pick(pair))

    @rule(pair=two)
    def close(self, pair):
        a, b = self.pick(pair)
        self.world.call(a, "close", b, self.world.now)

    @rule(pair=two, is_told=st.booleans())
    def move(self, pair, is_told):
        self.world.move(self.pick(pair)[0], is_told)

    @rule(pair=two)
    def readdress(self, pair):
        a, b = self.pick(pair)
        self.world.call(a, "readdress", b, self.world.nodes[b].address, self.world.now)

    @rule(pair=two)
    def restart(self, pair):
        self.world.restart(self.pick(pair)[0])

    @rule(pair=two)
    def restart_and_open(self, pair):
        a, b = self.pick(pair)
        self.world.restart(a)
        self.world.open(b, a)
        self.world.open(a, b)

    @rule(pair=two)
    def part(self, pair):
        self.world.cut.add(frozenset(self.pick(pair)))

    @rule()
    def heal(self):
        self.world.cut.clear()

    @rule(shape=st.sampled_from(SHAPES))
    def change(self, shape):
        self.world.set_shape(shape)

    @rule(place=st.integers(0, 199), is_moved=st.booleans())
    def replay(self, place, is_moved):
        """An old datagram comes again, perhaps from elsewhere."""
        if self.world.sent:
            data, source, to = self.world.sent[place % len(self.world.sent)]
            self.world.inject(data, ("203.0.113.1", 1) if is_moved else source, to)

    @rule(pair=two, data=st.binary(max_size=120))
    def bother(self, pair, data):
        self.world.inject(data, ("203.0.113.2", 1), self.world.nodes[self.pick(pair)[0]].address)

    def teardown(self):
        if hasattr(self, "world"):
            try:
                self.world.settle()
            finally:
                self.numbers.__exit__(None, None, None)


Machine.TestCase.settings = settings(
    max_examples=240 if THOROUGH else 20, stateful_step_count=30, suppress_health_check=list(HealthCheck)
)
test_anything_may_happen = Machine.TestCase
