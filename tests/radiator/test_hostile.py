"""Whatever arrives, server and middleware keep their invariants; a stranger gets a datagram for each of its own."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.binary import CODES, Kind
from overlay.systems.radiator.chains.blobs import Place
from overlay.systems.radiator.config import Transport
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.codec import encode
from overlay.systems.radiator.wire.table import LAYOUTS
from tests.radiator.strategies import is_written, one_of
from tests.radiator.test_middleware import HOME, OTHER, SERVER, Client, Desk, push
from tests.thorough import examples

LIKELY = {"epoch": [9], "propagation": [1, 2], "chain": [0, 1, m.DIRECT], "instance": [1, 2, 5], "key": [b"k" * 16]}
CONFIG = Transport(codec="none", chain_percent=100)


@st.composite
def likely(draw):
    """A message whose numbers often are those of something that exists."""
    layout = draw(st.sampled_from(LAYOUTS))
    message = draw(one_of(layout))
    small = {field.name: st.integers(0, 4) for field in layout.fields if field.kind in CODES and not field.choices}
    known = {name: st.sampled_from(values) for name, values in LIKELY.items() if name in message._fields}
    changes = draw(st.fixed_dictionaries({}, optional={**small, **known}))
    if layout.message is m.Push:
        changes |= {
            "segments": 1 + changes.get("segments", 0) + changes.get("segment", message.segment) % 4,
            "segment": 0,
        }
        changes |= {"chain": 0, "length": 5, "position": changes.get("position", 0)}
    return message._replace(**changes)


datagrams = likely().filter(is_written).map(encode) | st.binary(max_size=60)
arrivals = st.lists(st.tuples(datagrams, st.sampled_from([HOME, OTHER, SERVER]), st.integers(0, 3)), max_size=30)


def step(node, data, source, now):
    """The number of datagrams sent."""
    node.receive_datagrams([(data, source)], now)
    sent = len(node.datagrams_to_send())
    timer = node.next_timer()
    if timer is not None and timer <= now + 10**9:
        node.handle_timer(timer)
        node.datagrams_to_send()
    node.check_invariants()
    return sent


@settings(max_examples=examples(300))
@given(arrivals)
def test_a_server_survives_whatever_arrives(arriving):
    desk = Desk(CONFIG)
    desk.register("a", 1, HOME)
    desk.register("b", 2, OTHER)
    desk.ask(m.Context(7, 1, 0, 0, b"{}"))
    now = 0
    for data, source, seconds in arriving:
        now += seconds * 10**9
        step(desk.node, data, source, now)
    assert len(desk.node.clients) <= 2


@settings(max_examples=examples(300))
@given(arrivals)
def test_a_stranger_gets_at_most_one_datagram_for_each_of_its_own(arriving):
    desk = Desk(CONFIG)
    assert all(step(desk.node, data, source, 0) <= 1 for data, source, _ in arriving)
    assert len(desk.node.clients) == 0


@settings(max_examples=examples(300))
@given(arrivals)
def test_a_middleware_survives_whatever_arrives(arriving):
    client = Client(CONFIG).registered()
    client.hear(push(b"{}", [Place(*HOME, "a"), Place(*OTHER, "b")]), SERVER)
    client.node.propagate_context(b"{}", 0, 0)
    now = 0
    for data, source, seconds in arriving:
        now += seconds * 10**9
        step(client.node, data, source, now)
    assert client.received[:1] == [{}]


def test_the_table_of_kinds_is_used_completely():
    assert {field.kind for layout in LAYOUTS for field in layout.fields} == set(Kind)
