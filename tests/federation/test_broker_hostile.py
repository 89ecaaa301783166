"""Whatever clients and neighbours send: nothing raises, all invariants hold, and another client is served."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.systems.federation.wire import messages as m
from tests.federation.desk import S, World, note, publish, register, subscribe, subscription
from tests.federation.drawn import MESSAGES
from tests.thorough import examples

TO_BROKERS = [m.Register, m.KeepAlive, m.Unregister, m.Subscribe, m.Publish, m.Forward, m.Lookup, m.Query]
any_message = st.sampled_from(TO_BROKERS).flatmap(MESSAGES.__getitem__)
likely = st.sampled_from(
    [
        register("c0"),
        register("p3", scopes=("climate", "light")),
        m.KeepAlive(1),
        subscribe(subscription(s=3_600, once=True)),
        publish(note("p3")),
    ]
)
garbage = st.binary(min_size=1, max_size=60)
moves = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["c0", "p3", "b1"]), likely | any_message | garbage),
        st.tuples(st.sampled_from(["wait", "session"]), st.sampled_from([1, S, 4 * S])),
    ),
    max_size=20,
)


def say(world, name, what):
    node = world.nodes[name]
    node.begin(world.now)
    if isinstance(what, bytes):
        node.peers.channel.send(b"b0", what, world.now)
    else:
        node.peers.send("b0", what)
    world.settle()


@given(moves)
@settings(max_examples=examples(200))
def test_hostile_input_raises_nothing_and_stops_no_other_client(history):
    world = World("c0", "p3", brokers=("b0", "b1"), keepalive_s=2.0)
    for name, what in history:
        if name == "wait":
            world.until(world.now + what)
        elif name == "session":
            world.enter("c0")
            world.settle()
        else:
            say(world, name, what)
    world.enter("c9")
    world.enter("p9")
    world.settle()
    world.says("p9", register("p9", scopes=("light",)))
    entity = subscription("c9", text="entity.id = r9", s=3_600, scopes=("light",))
    world.says("c9", register("c9"), subscribe(entity))
    world.hears("c9")
    world.says("p9", publish(note("p9", scope="light", entity="r9")))
    assert world.hears("c9") == [m.Notify(note("p9", scope="light", entity="r9"), (entity.id,))]
