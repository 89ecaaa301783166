"""Whole brokers, wired by a queue: a line of three, a ring of ten, and a broker fed with anything."""

from collections import deque
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from overlay.core.addresses import format_address
from overlay.core.chance import Chances
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.wire.codec import encode
from tests.broker.strategies import damaged, messages
from tests.broker.transcript import STRANGER, WALL, A, B, C, D, E, K, hop
from tests.thorough import examples

CONFIG = BrokerConfig(controller_networks="10.0.0.0/8", trusted_networks="10.0.0.0/8")


class Wires:
    """Brokers whose datagrams arrive in order and at once; ``inbox`` has all other datagrams."""

    def __init__(self, count, links, config=CONFIG):
        self.addresses = [("10.1.0.1", 5000 + i) for i in range(count)]
        self.brokers = {
            address: Broker(config, address, Chances.streams(i), WALL * MILLISECOND)
            for i, address in enumerate(self.addresses)
        }
        self.inbox = deque()
        self.datagrams = 0
        for one, other in links:
            self.tell(self.addresses[one], f"8|{WALL}|{format_address(self.addresses[other])}", K)
        assert all("Status:10" in text for _, text in self.read())

    def tell(self, to, text, source=C):
        queue = deque([(text.encode(), source, to)])
        while queue:
            data, sender, receiver = queue.popleft()
            self.datagrams += 1
            if receiver not in self.brokers:
                self.inbox.append((receiver, data.decode()))
                continue
            self.brokers[receiver].receive_datagram(data, sender, 0)
            self.brokers[receiver].check_invariants()
            queue.extend((data, receiver, to) for data, to in self.brokers[receiver].datagrams_to_send())

    def read(self):
        received = list(self.inbox)
        self.inbox.clear()
        return received

    def ask(self, broker, stamp=WALL):
        self.tell(self.addresses[broker], f"3|{stamp}|room|r1|temp")
        return [text.split("|") for _, text in self.read()]


def provide(wires, broker):
    wires.tell(wires.addresses[broker], f"2|{WALL}|9|A|p1|room|r1|temp|{WALL - 1}|{WALL + 120_000}|degC=21.5")
    assert len(wires.read()) == 2


def replicas(wires):
    return [wires.brokers[address].statistics(0)["replicas"] for address in wires.addresses]


def test_a_line_of_three_answers_from_its_far_end():
    wires = Wires(3, [(0, 1), (1, 2)])
    provide(wires, 2)
    first, answer, last = wires.ask(0)
    assert first[3] == "Status:101"
    assert answer == f"4|{WALL}|9|p1|room|r1|temp|{WALL - 1}|{WALL + 120_000}|degC=21.5".split("|")
    assert last[3:] == ["Status:102", "Operation ContextRequest", f"Requested by {format_address(C)}"]
    assert sum(replicas(wires)) == 1
    assert replicas(wires)[2] == 0


def test_a_line_of_three_says_not_found():
    wires = Wires(3, [(0, 1), (1, 2)])
    first, refused = wires.ask(0)
    assert first[3] == "Status:101"
    assert refused == f"6|{WALL}|NACK|Status:202|Operation ContextRequest|Requested by {format_address(C)}".split("|")
    assert all(broker.statistics(0)["pending"] == 0 for broker in wires.brokers.values())


@pytest.mark.parametrize("policy", ["avoid", "uniform", "noback"])
def test_a_ring_of_ten_ends_every_request(policy):
    config = BrokerConfig(
        walk_policy=policy, walk_ttl=40, controller_networks="10.0.0.0/8", trusted_networks="10.0.0.0/8"
    )
    wires = Wires(10, [(i, (i + 1) % 10) for i in range(10)], config)
    assert all(len(broker.neighbours) == 2 for broker in wires.brokers.values())
    provide(wires, 5)
    ends = [wires.ask(i % 10, WALL + i)[-1] for i in range(50)]
    assert {end[3] for end in ends} <= {"Status:102", "Status:202"}
    assert policy == "uniform" or all(end[3] == "Status:102" for end in ends)
    assert all(broker.statistics(0)["pending"] == 0 for broker in wires.brokers.values())


@pytest.mark.parametrize("features", [{}, {"gone_ttl": 8, "indirect_probes": 3}])
def test_two_brokers_never_keep_each_other_busy(features):
    wires = Wires(2, [(0, 1)], replace(CONFIG, **features))
    one, other = wires.addresses
    before = wires.datagrams
    for code in (*range(26), 32, 90):
        for tail in ("", "|", f"|{WALL}", f"|{WALL}|*", f"|{WALL}|a|b|c", "|x", f"|{WALL}|10.1.0.1:5000"):
            wires.tell(one, f"{code}{tail}", source=other)
    assert wires.datagrams - before < 28 * 7 * 10


ADDRESSES = st.sampled_from([B, C, D, E, K, STRANGER, A])
DATAGRAMS = st.one_of(messages.map(encode), damaged(messages.map(encode)), st.binary(max_size=50))
KEYS = st.sampled_from(["room|r1|temp", "room|r2|temp"])
PATHS = st.lists(st.sampled_from([B, C, D, A]), max_size=3)


class AnythingGoes(RuleBasedStateMachine):
    """Whatever comes, no error, bounded state, and a ping is answered."""

    @initialize(
        seed=st.integers(0, 9),
        policy=st.sampled_from(["avoid", "uniform", "noback"]),
        table=st.sampled_from(["indexed", "linear"]),
        membership=st.sampled_from(["given", "greedy", "random"]),
        others=st.sampled_from([0, 2]),
    )
    def start(self, seed, policy, table, membership, others):
        config = BrokerConfig(
            membership=membership, neighbours_wanted=3, gone_ttl=others, indirect_probes=others, suspicion_rounds=2,
            walk_policy=policy, table=table, table_entries=3, table_bytes=400, pending_capacity=3, neighbour_capacity=3,
            pending_deadline_ms=500, ping_interval_ms=100, walk_ttl=3, replication_index=2,
            controller_networks="10.0.0.0/8", trusted_networks="10.0.0.0/8",
        )  # fmt: skip
        self.broker = Broker(config, A, Chances.streams(seed), WALL * MILLISECOND)
        self.now = 0
        self.sent = []

    @rule(data=DATAGRAMS, source=ADDRESSES)
    def hear(self, data, source):
        self.broker.receive_datagram(data, source, self.now)
        self.drain()

    @rule(source=ADDRESSES, key=KEYS, hops=PATHS, stamp=st.integers(WALL, WALL + 2))
    def hear_request(self, source, key, hops, stamp):
        self.hear(f"3|{stamp}|{key}{hop(*hops)}".encode(), source)

    @rule(key=KEYS, provider=st.sampled_from("pq"), stamp=st.integers(WALL, WALL + 40_000), ms=st.integers(-9, 900))
    def hear_update(self, key, provider, stamp, ms):
        wall = WALL + self.now // MILLISECOND
        self.hear(f"2|{stamp}|1|U|{provider}|{key}|{wall - 10}|{wall + ms}|x".encode(), C)

    @rule(source=ADDRESSES, text=st.sampled_from(["0|1", "7|1", "7|1|*", "9|1|Ctx_Broker|10.0.0.2:4002"]))
    def hear_of_members(self, source, text):
        self.hear(text.encode(), source)

    @rule(source=ADDRESSES, named=st.lists(ADDRESSES, min_size=1, max_size=4), star=st.sampled_from(["", "|*"]))
    def hear_join(self, source, named, star):
        self.hear(f"8|1|{'|'.join(map(format_address, named))}{star}".encode(), source)

    @rule(
        source=ADDRESSES, other=ADDRESSES, code=st.sampled_from(["17|{}|2|{}", "24|{}|{}", "19|{}|{}"]),
        stamp=st.integers(WALL, WALL + 2),
    )  # fmt: skip
    def hear_of_others(self, source, other, code, stamp):
        self.hear(code.format(stamp, format_address(other)).encode(), source)

    @rule(choice=st.randoms(use_true_random=False), good=st.booleans())
    def a_neighbour_answers(self, choice, good):
        """With what fits something the broker sent a while ago."""
        asked = [(d, to) for d, to in self.sent if d[:2] in (b"3|", b"8|", b"1|", b"24")]
        if not asked:
            return
        data, to = choice.choice(asked)
        fields = data.decode().split("|")
        if fields[0] == "3":
            wall = WALL + self.now // MILLISECOND
            hops = "|".join(fields[5:])
            found = f"4|{wall}|1|p|{'|'.join(fields[2:5])}|{wall - 1}|{wall + 90_000}|x|{hops}|*"
            refused = f"6|{fields[1]}|NACK|Status:202|Operation ContextRequest|Requested by 10.0.0.3:4003|{hops}"
            self.hear((found if good else refused).encode(), to)
        elif fields[0] == "24":
            self.hear(data.replace(b"24|", b"25|", 1), to)
        elif fields[0] == "8":
            self.hear(b"5|1|ACK|Status:101|Operation BrokerJoining|Requested by 10.0.0.1:4001", to)
        else:
            self.hear(b"9|1|Ctx_Broker|10.0.0.2:4002", to)

    @rule(ms=st.integers(0, 2000))
    def pass_time(self, ms):
        end = self.now + ms * MILLISECOND
        while (timer := self.broker.next_timer()) is not None and timer <= end:
            self.now = max(self.now, timer)
            self.broker.handle_timer(self.now)
            self.drain()
            following = self.broker.next_timer()
            assert following is None or following > self.now
        self.now = end

    @rule(offset_ms=st.sampled_from([0, 0, 86_400_000, -86_400_000]))
    def step_the_clock(self, offset_ms):
        self.broker.set_wall_clock((WALL + offset_ms) * MILLISECOND)

    @rule()
    def ping(self):
        self.broker.receive_datagram(b"1|1", C, self.now)
        assert self.broker.datagrams_to_send()[-1][0].startswith(b"9|")

    def drain(self):
        new = self.broker.datagrams_to_send()
        assert all(len(data) <= 65_507 for data, _ in new)
        self.sent = (self.sent + list(new))[-20:]
        self.broker.events()
        self.broker.check_invariants()


TestAnything = AnythingGoes.TestCase
TestAnything.settings = settings(
    max_examples=examples(150), stateful_step_count=40, suppress_health_check=list(HealthCheck)
)
