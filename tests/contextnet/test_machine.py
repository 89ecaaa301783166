"""A state machine of a gateway and its nodes over a bad network: anything may happen, and the oracle holds."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from overlay.core.links import LinkShape
from overlay.systems.contextnet.transport.packets import Close
from overlay.systems.contextnet.transport.settings import TransportSettings
from tests.contextnet.lossy import ELSEWHERE, GATEWAY, World
from tests.thorough import THOROUGH

SHAPES = [
    LinkShape(delay_ms=1),
    LinkShape(delay_ms=15, loss=0.3, loss_burst_limit=3),
    LinkShape(delay_ms=5, jitter_ms=5, reordering=0.5, reordering_ms=30),
    LinkShape(delay_ms=2, duplication=0.5, reordering=0.3, reordering_ms=400),
    LinkShape(delay_ms=10, corruption=0.3, loss=0.1),
    LinkShape(delay_ms=750),
]
places = st.integers(0, 2)


class Machine(RuleBasedStateMachine):
    @initialize(
        nodes=st.integers(1, 3),
        window=st.sampled_from([1, 4, 32]),
        queue=st.sampled_from([1, 5, 256]),
        retries=st.sampled_from([0, 2, 5]),
        ack_delay_ms=st.sampled_from([0, 25]),
        linger_s=st.sampled_from([0, 5, 60]),
        resume=st.booleans(),
        validation=st.booleans(),
        tag_bytes=st.sampled_from([8, 16]),
        repeat_share=st.sampled_from([0, 0.5]),
        log_ms=st.sampled_from([0, 3, 700]),
        seed=st.integers(0, 2**32),
        shape=st.sampled_from(SHAPES),
    )
    def begin(self, nodes, window, queue, log_ms, seed, shape, **chosen):
        chosen = TransportSettings(window=window, queue_per_connection=queue, idle_s=20, keepalive_s=6, **chosen)
        self.world = World(nodes, chosen, shape, seed, log_ms)
        self.world.connect()
        self.world.run(100)

    def pick(self, place):
        return self.world.peers[place % len(self.world.peers)]

    @rule(place=places, sizes=st.lists(st.sampled_from([20, 1_147, 1_148, 5_000, 40_000]), min_size=1, max_size=8))
    def send(self, place, sizes):
        for size in sizes:
            self.world.send(self.pick(place), size)

    @rule(place=places, sizes=st.lists(st.sampled_from([20, 1_148, 5_000]), min_size=1, max_size=8))
    def give(self, place, sizes):
        for size in sizes:
            self.world.give(self.pick(place), size)

    @rule(ms=st.sampled_from([1, 10, 30, 200, 1_500, 9_000, 40_000]))
    def wait(self, ms):
        self.world.run(ms)

    @rule(place=places, host=st.sampled_from(["192.0.2.7", "192.0.2.8"]))
    def move(self, place, host):
        self.world.move(self.pick(place), host)

    @rule()
    def cut(self):
        self.world.is_cut = not self.world.is_cut

    @rule(shape=st.sampled_from(SHAPES))
    def change(self, shape):
        self.world.set_shape(shape)

    @rule()
    def restart_gateway(self):
        self.world.start()

    @rule(is_gateway=st.booleans(), place=places)
    def be_busy(self, is_gateway, place):
        end = self.world.gateway if is_gateway else self.pick(place).end
        end.is_busy = not end.is_busy

    @rule(place=places, ahead=st.sampled_from([0, 1, 7]))
    def be_seen_elsewhere(self, place, ahead):
        peer = self.pick(place)
        self.world.gateway.learn_epoch(peer.id, peer.end.epoch + ahead, self.world.now)
        self.world.step(None)

    @rule(place=places)
    def close(self, place):
        self.world.gateway.close(self.pick(place).id, Close.SHUTTING_DOWN, self.world.now)
        self.world.step(None)

    @rule(place=places)
    def leave(self, place):
        peer = self.pick(place)
        peer.end.close(self.world.now)
        self.world.step(peer)

    @rule()
    def connect(self):
        self.world.connect()

    @rule(place=st.integers(0, 199), is_moved=st.booleans())
    def replay(self, place, is_moved):
        """An old datagram comes again, perhaps from elsewhere."""
        if self.world.sent:
            data, source, to = self.world.sent[place % len(self.world.sent)]
            self.world.inject(data, ELSEWHERE if is_moved else source, to)

    @rule(place=places, data=st.binary(max_size=300))
    def bother(self, place, data):
        for to in (GATEWAY, self.pick(place).address):
            self.world.inject(data, ELSEWHERE, to)

    def teardown(self):
        if hasattr(self, "world"):
            for end in (self.world.gateway, *(peer.end for peer in self.world.peers)):
                end.is_busy = False
            self.world.settle()


Machine.TestCase.settings = settings(
    max_examples=200 if THOROUGH else 15,
    stateful_step_count=40 if THOROUGH else 25,
    suppress_health_check=list(HealthCheck),
)
TestMachine = Machine.TestCase
