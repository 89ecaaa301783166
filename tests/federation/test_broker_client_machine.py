"""Random histories of one client against the table of section 8 as it is written, at and around its deadlines."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.systems.federation.wire import messages as m
from tests.federation.desk import S, World, note, publish, register, subscribe, subscription
from tests.thorough import examples

DELTA = 2 * S
UNKNOWN, VALID, INVALID = "UNKNOWN", "VALID", "INVALID"


class Table:
    """Section 8, literally, for a client with at most one subscription. Instants in ns."""

    def __init__(self, implicit, grace):
        self.state, self.x, self.implicit, self.grace = UNKNOWN, 0, implicit, grace
        self.is_subscribed, self.held = False, []

    def at(self, now):
        """Both timers, before the datagrams of that instant."""
        if self.state == VALID and now >= self.x + DELTA:
            self.state = INVALID
        if self.state == INVALID and now >= self.x + self.grace:
            self.leave()

    def leave(self):
        self.state, self.is_subscribed, self.held = UNKNOWN, False, []

    def hear(self, now):
        """x := now; what was held."""
        self.state, self.x = VALID, now
        held, self.held = self.held, []
        return held

    def keep_alive(self, now):
        return [m.Code.UNKNOWN] if self.state == UNKNOWN else self.hear(now)

    def register(self, now):
        return ["ack", *self.hear(now)]

    def unregister(self, now):
        self.leave()
        return ["ack"]

    def subscribe(self, now):
        if self.state == UNKNOWN:
            return [m.Code.UNKNOWN]
        if self.state == INVALID and not self.implicit:
            return [m.Code.INVALID]
        held = self.hear(now) if self.implicit else []
        self.is_subscribed = True
        return [*held, "ack"]

    def publish(self, number):
        """By another client."""
        if not self.is_subscribed:
            return []
        if self.state == VALID:
            return [number]
        self.held.append(number)
        return []


SAYS = {
    "keep_alive": m.KeepAlive(1),
    "register": register("c0"),
    "unregister": m.Unregister(1, 1),
    "subscribe": subscribe(subscription(s=3_600)),
}
gaps = st.sampled_from([0, 1, S, DELTA - 1, DELTA, DELTA + 1, 2 * DELTA - 1, 2 * DELTA, 3 * DELTA - 1, 3 * DELTA])
moves = st.lists(st.tuples(gaps, st.sampled_from([*SAYS, "publish", "publish"])), max_size=25)


def plain(message):
    match message:
        case m.Nack():
            return message.code
        case m.Notify():
            return message.notification.id.number
        case m.Ack():
            return "ack"
    return message


@given(moves, st.booleans(), st.sampled_from(["last_heard", "first_missed"]))
@settings(max_examples=examples(160))
def test_a_broker_treats_a_client_as_the_table_says(history, implicit, grace_from):
    world = World("c0", "p0", keepalive_s=2.0, implicit_keepalive=implicit, grace_from=grace_from, cache_cap=0.0)
    table, number = Table(implicit, DELTA * (2 if grace_from == "last_heard" else 3)), 0
    for gap, what in history:
        if gap:
            world.before(world.now + gap)
        now = world.now
        table.at(now)
        if what == "publish":
            number += 1
            world.says("p0", register("p0", scopes=("climate",), req=0), publish(note(number=number), req=0))
            expected = table.publish(number)
        else:
            world.says("c0", SAYS[what])
            expected = getattr(table, what)(now)
        assert [plain(one) for one in world.hears("c0")] == expected
        assert ("c0" in world.broker.clients) is (table.state != UNKNOWN)
        assert world.broker.clients.is_valid("c0") is (table.state == VALID)
        assert (world.broker.tables.subscriptions.get(("c0", 1)) is not None) is table.is_subscribed
