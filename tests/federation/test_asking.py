"""Queries over a tree of brokers, without channels: plans, data of needed scopes, errors, deadlines, bounds."""

from __future__ import annotations

from collections import deque
from random import Random

import pytest

from overlay.channel import Down, Reason
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.federation.broker.asking import BROKER_BIT, LONGEST_MS, MOST_FOUND, MOST_OF_ONE, MOST_OPEN, Asking
from overlay.systems.federation.broker.needs import MOST_SCOPES, Unanswerable, plan
from overlay.systems.federation.broker.station import Clock, Station
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire import values as v
from overlay.systems.federation.wire.messages import Code
from tests.thorough import examples


class Wire:
    """What ``Asking`` needs of ``Peers``; messages go to the net, in order."""

    def __init__(self, net, name):
        self.net, self.name = net, name

    @property
    def now(self):
        return self.net.now

    @property
    def wall_ms(self):
        return 10**9 + self.net.now // MILLISECOND

    def send(self, peer, message):
        if peer in self.net.gone:
            return False
        if peer in self.net.narrow and isinstance(message, m.Answer) and message.notifications:
            return False
        self.net.queue.append((self.name, peer, message))
        return True

    def refuse(self, peer, message, code, words=""):
        self.send(peer, m.Nack(0, message.req, code, words))


class Everyone:
    def serves(self, name, message):
        return name != "stranger"


class Net:
    """Brokers on a tree, and providers that answer at once: ``providers`` is name → (broker, scopes, needs)."""

    def __init__(self, edges, providers, silent=()):
        self.now, self.queue, self.gone, self.silent, self.narrow = 0, deque(), set(), set(silent), set()
        self.heard = {}
        """What clients have received."""
        self.asked = []
        """Provider, scope, and the scopes of the data that came before."""
        self.brokers = {}
        names = sorted({end for edge in edges for end in edge} | {broker for broker, _, _ in providers.values()})
        for name in names:
            station = Station(Settings(), Wire(self, name))
            self.brokers[name] = Asking(station, Everyone())
            for a, b in edges:
                if name in (a, b):
                    station.tables.connect(b if name == a else a)
        for provider, (home, scopes, needs) in providers.items():
            adv = v.Advertisement(provider, 1, v.Role.PROVIDER, "", scopes, needs)
            self.tell(edges, v.Entry(adv, "127.0.0.1:1", home, 1))
        self.providers = providers

    def tell(self, edges, entry):
        table = self.station(entry.home).tables.registrations
        table.put(entry)
        seen, waiting = {entry.home}, [entry.home]
        while waiting:
            one = waiting.pop()
            for a, b in edges:
                other = {a: b, b: a}.get(one)
                if other is not None and other not in seen:
                    seen.add(other)
                    waiting.append(other)
                    self.station(other).tables.registrations.put(entry, one)

    def station(self, broker):
        return self.brokers[broker]._station

    def query(self, broker, *scopes, client="c0", req=7, left_ms=800, entity=None):
        kind, id = entity or (None, None)
        self.brokers[broker].query(client, m.Query(req, kind, id, scopes, left_ms))
        self.rest()
        return self.heard.get((client, req))

    def rest(self):
        while self.queue:
            source, peer, message = self.queue.popleft()
            if peer in self.brokers:
                self.broker(source, peer, message)
            elif peer in self.providers and isinstance(message, m.Query | m.Answer):
                self.provider(source, peer, message)
            else:
                self.heard[peer, getattr(message, "req", None)] = message
            if len(self.queue) < 100:
                for one in self.brokers.values():
                    one.check_invariants()

    def broker(self, source, name, message):
        one = self.brokers[name]
        {m.Query: one.query, m.Answer: one.answer, m.Nack: one.refused}[type(message)](source, message)

    def provider(self, broker, name, message):
        if isinstance(message, m.Answer):
            self.heard[name, message.req] = message
            return
        data = self.heard.pop((name, message.req), None)
        (scope,) = message.scopes
        self.asked.append((name, scope, {note.scope for note in data.notifications} if data else set()))
        if name not in self.silent:
            self.queue.append((name, broker, m.Answer(message.req, Code.GOOD, (note_of(name, scope),))))

    def pass_time(self, ns):
        end = self.now + ns
        while (due := min((at for one in self.brokers if (at := self.due(one)) is not None), default=end + 1)) <= end:
            self.now = max(self.now, due)
            for name, one in self.brokers.items():
                for clock, number in self.station(name).timers.due(self.now):
                    assert clock is Clock.ASKED
                    one.ring(number)
            self.rest()
        self.now = end

    def due(self, broker):
        return self.station(broker).timers.next_timer()


def note_of(provider, scope, entity="r1", **others):
    values = {"timestamp": 1, "expires": 2 * 10**9, **others}
    return v.Notification(v.NotificationId(provider, 1), "room", entity, scope, data={}, **values)


CHAIN = [("b0", "b1"), ("b1", "b2")]


def of(needs):
    """What ``plan`` asks for: scope → what its only provider needs."""
    return lambda scope, is_met: needs.get(scope) if is_met(needs.get(scope, ())) else None


def found(answer):
    return {(note.id.provider, note.scope) for note in answer.notifications}


# ---- the plan


def test_needed_scopes_come_first_and_the_time_is_split_by_what_still_waits():
    needs = {"a": ["b", "c"], "b": ["c"], "c": [], "d": []}
    steps = plan(["a", "d"], (), of(needs))
    order = list(steps)
    assert order.index("c") < order.index("b") < order.index("a")
    assert {scope: step.levels for scope, step in steps.items()} == {"a": 1, "b": 2, "c": 3, "d": 1}
    assert steps["a"].needs == ("b", "c")


def test_what_is_given_is_not_asked_for_and_goes_along():
    steps = plan(["a"], {"b"}, of({"a": ["b"], "b": ["a"]}))
    assert {scope: step.needs for scope, step in steps.items()} == {"a": ("b",)}


@pytest.mark.parametrize(
    ("needs", "code"),
    [
        ({"a": ["a"]}, Code.CYCLE),
        ({"a": ["b"], "b": ["c"], "c": ["b"]}, Code.CYCLE),
        ({"a": ["b"]}, Code.NO_PROVIDER),
        ({f"{chr(97 + i)}": [f"{chr(98 + i)}"] for i in range(8)}, Code.NO_PROVIDER),
        ({}, Code.NO_PROVIDER),
        ({"a": ["s0"], **{f"s{i}": [f"s{i + 1}"] for i in range(8)}, "s8": []}, Code.LIMIT),
        ({"a": [f"s{i}" for i in range(MOST_SCOPES)], **{f"s{i}": [] for i in range(MOST_SCOPES)}}, Code.LIMIT),
    ],
)
def test_queries_that_cannot_be_answered(needs, code):
    with pytest.raises(Unanswerable) as caught:
        plan(["a"], (), of(needs))
    assert caught.value.code is code


def test_a_chain_of_eight_is_the_longest():
    needs = {f"s{i}": [f"s{i + 1}"] if i < 7 else [] for i in range(8)}
    assert plan(["s0"], (), of(needs))["s7"].levels == 8


# ---- over brokers


def test_a_local_provider_answers_and_no_neighbour_is_asked():
    net = Net(CHAIN, {"p0": ("b0", ("s",), {}), "p1": ("b2", ("s",), {})})
    answer = net.query("b0", "s")
    assert (answer.code, found(answer)) == (Code.GOOD, {("p0", "s")})
    assert [one for one, *_ in net.asked] == ["p0"]


def test_without_a_local_provider_the_neighbours_are_asked():
    net = Net(CHAIN, {"p1": ("b2", ("s",), {})})
    answer = net.query("b0", "s", entity=("room", "r1"))
    assert (answer.code, found(answer)) == (Code.GOOD, {("p1", "s")})


def test_data_of_needed_scopes_go_with_the_query_over_brokers_and_nothing_is_asked_twice():
    net = Net(
        CHAIN,
        {
            "p0": ("b2", ("a",), {"a": ("b", "c")}),
            "p1": ("b0", ("b",), {"b": ("c",)}),
            "p2": ("b1", ("c",), {}),
        },
    )
    answer = net.query("b0", "a", "b")
    assert (answer.code, found(answer)) == (Code.GOOD, {("p0", "a"), ("p1", "b")})
    assert net.asked == [("p2", "c", set()), ("p1", "b", {"c"}), ("p0", "a", {"b", "c"})]


@pytest.mark.parametrize("home", ["b0", "b1", "b2"])
def test_a_provider_whose_needs_cannot_be_met_keeps_nobody_from_the_others(home):
    providers = {"p0": ("b2", ("a",), {}), "p1": ("b1", ("a", "x"), {"a": ("x",), "x": ("nowhere",)})}
    hostile = {"p2": (home, ("a",), {"a": ("nowhere",)}), "p3": (home, ("a",), {"a": ("x",)})}
    answer = Net(CHAIN, providers | hostile).query("b0", "a")
    assert (answer.code, found(answer)) == (Code.GOOD, {("p0", "a")})


def test_a_needed_scope_that_is_not_answered_only_fails_those_who_need_it():
    providers = {"p0": ("b0", ("a",), {"a": ("b",)}), "p1": ("b0", ("b",), {}), "p2": ("b2", ("a",), {})}
    net = Net(CHAIN, providers, silent=["p1"])
    assert net.query("b0", "a") is None
    net.pass_time(SECOND)
    answer = net.heard["c0", 7]
    assert (answer.code, found(answer)) == (Code.GOOD, {("p2", "a")})
    assert [one for one, *_ in net.asked] == ["p1", "p2"]


def test_two_brokers_that_ask_each_other_at_once_do_not_confuse_data_with_answers():
    providers = {
        "p0": ("b1", ("a",), {"a": ("n",)}),
        "p1": ("b0", ("b",), {"b": ("n",)}),
        "p2": ("b0", ("n",), {}),
        "p3": ("b1", ("n",), {}),
    }
    net = Net([("b0", "b1")], providers)
    for number in range(5):
        net.brokers["b0"].query("c0", m.Query(number + 1, None, None, ("a",), 500))
        net.brokers["b1"].query("c1", m.Query(number + 1, None, None, ("b",), 500))
    net.rest()
    for number in range(5):
        assert found(net.heard["c0", number + 1]) == {("p0", "a")}
        assert found(net.heard["c1", number + 1]) == {("p1", "b")}
    assert {(name, frozenset(data)) for name, _, data in net.asked if name in ("p0", "p1")} == {
        ("p0", frozenset({"n"})),
        ("p1", frozenset({"n"})),
    }


@pytest.mark.parametrize("seed", range(examples(40)))
def test_random_trees_answer_what_their_plan_allows(seed):
    chance = Random(seed)
    brokers = [f"b{i}" for i in range(chance.randrange(1, 6))]
    edges = [(brokers[chance.randrange(i)], brokers[i]) for i in range(1, len(brokers))]
    scopes = [f"s{i}" for i in range(5)]
    providers = {}
    for i in range(chance.randrange(1, 8)):
        scope = chance.choice(scopes)
        needed = tuple(chance.sample(scopes, chance.randrange(0, 3))) if chance.random() < 0.5 else ()
        providers[f"p{i}"] = (chance.choice(brokers), (scope,), {scope: needed} if needed else {})
    net = Net(edges, providers)
    for scope in scopes:
        broker = chance.choice(brokers)
        try:
            plan([scope], (), lambda name, is_met, broker=broker: net.brokers[broker]._needs(name, "c0", is_met))
            expected = Code.GOOD
        except Unanswerable as error:
            expected = error.code
        answer = net.query(broker, scope)
        assert answer.code is expected
        if expected is Code.GOOD:
            assert {note.scope for note in answer.notifications} == {scope}
    assert not any(one._asks or one._inquiries for one in net.brokers.values())


# ---- errors, deadlines, bounds


@pytest.mark.parametrize(
    ("providers", "code"),
    [
        ({"p1": ("b2", ("other",), {})}, Code.NO_PROVIDER),
        ({"p1": ("b2", ("s",), {"s": ("t",)}), "p2": ("b0", ("t",), {"t": ("s",)})}, Code.CYCLE),
    ],
)
def test_what_cannot_be_answered_is_refused_before_anyone_is_asked(providers, code):
    net = Net(CHAIN, providers)
    assert net.query("b0", "s") == m.Answer(7, code)
    assert net.asked == []


def test_silent_providers_time_out_and_each_level_has_its_part_of_the_time():
    net = Net([], {"p0": ("b0", ("a",), {"a": ("b",)}), "p1": ("b0", ("b",), {})}, silent=["p1"])
    assert net.query("b0", "a", left_ms=800) is None
    assert net.due("b0") == 400 * MILLISECOND
    net.pass_time(SECOND)
    assert net.heard["c0", 7] == m.Answer(7, Code.TIMEOUT)


def test_an_answer_that_comes_too_late_changes_nothing():
    net = Net([], {"p0": ("b0", ("a",), {})}, silent=["p0"])
    net.query("b0", "a", left_ms=10)
    (number,) = net.brokers["b0"]._asks
    net.pass_time(SECOND)
    net.brokers["b0"].answer("p0", m.Answer(number, Code.GOOD, (note_of("p0", "a"),)))
    assert net.station("b0").counters["answers_late"] == 1
    assert net.heard["c0", 7].code is Code.TIMEOUT


def test_what_others_found_comes_back_over_brokers_before_the_time_is_over():
    net = Net(CHAIN, {"p0": ("b2", ("a",), {}), "p1": ("b2", ("a",), {})}, silent=["p1"])
    assert net.query("b0", "a") is None
    net.pass_time(SECOND)
    answer = net.heard["c0", 7]
    assert (answer.code, found(answer)) == (Code.GOOD, {("p0", "a")})


def test_a_query_about_one_entity_ends_with_its_first_notification():
    net = Net([], {"p0": ("b0", ("a",), {}), "p1": ("b0", ("a",), {})}, silent=["p0"])
    assert found(net.query("b0", "a", entity=("room", "r1"))) == {("p1", "a")}
    assert net.due("b0") is None


def test_notifications_that_were_not_asked_for_are_left_out():
    net = Net([], {"p0": ("b0", ("a",), {})}, silent=["p0"])
    net.query("b0", "a", entity=("room", "r1"))
    (number,) = net.brokers["b0"]._asks
    wrong = (
        note_of("p0", "b"),
        note_of("p0", "a", "r2"),
        note_of("p1", "a"),
        note_of("p0", "a", expires=1),
    )
    net.brokers["b0"].answer("p0", m.Answer(number, Code.GOOD, wrong))
    net.rest()
    assert net.heard["c0", 7] == m.Answer(7, Code.GOOD)
    assert net.station("b0").counters["answers_wrong"] == len(wrong)


def test_errors_of_providers_reach_the_client():
    net = Net([], {"p0": ("b0", ("a",), {}), "p1": ("b0", ("b",), {})}, silent=["p0", "p1"])
    net.query("b0", "a", "b")
    first, second = sorted(net.brokers["b0"]._asks)
    by_scope = {net.brokers["b0"]._asks[one].scope: one for one in (first, second)}
    net.brokers["b0"].refused("p0", m.Nack(10, by_scope["a"], Code.DENIED))
    net.brokers["b0"].answer("p1", m.Answer(by_scope["b"], Code.GOOD, (note_of("p1", "b"),)))
    net.rest()
    answer = net.heard["c0", 7]
    assert (answer.code, found(answer)) == (Code.DENIED, {("p1", "b")})


def test_an_answer_of_another_peer_than_the_one_asked_is_not_taken():
    net = Net([], {"p0": ("b0", ("a",), {}), "p1": ("b0", ("b",), {})}, silent=["p0"])
    net.query("b0", "a")
    (number,) = net.brokers["b0"]._asks
    net.brokers["b0"].answer("p1", m.Answer(number, Code.GOOD, (note_of("p1", "a"),)))
    net.brokers["b0"].refused("p1", m.Nack(10, number, Code.DENIED))
    assert list(net.brokers["b0"]._asks) == [number]


def test_a_provider_that_is_gone_has_no_answer_and_a_client_that_is_gone_needs_none():
    net = Net([], {"p0": ("b0", ("a",), {})}, silent=["p0"])
    net.query("b0", "a")
    net.brokers["b0"].session(Down(b"p0", Reason.UNREACHABLE, []))
    net.rest()
    assert net.heard["c0", 7].code is Code.NO_PROVIDER
    net.query("b0", "a", req=8)
    net.brokers["b0"].session(Down(b"c0", Reason.CLOSED, []))
    assert net.due("b0") is None
    net.gone.add("p0")
    assert net.query("b0", "a", req=9).code is Code.NO_PROVIDER


def test_answers_that_are_too_large_are_refused():
    net = Net([], {"p0": ("b0", ("a",), {})})
    net.narrow.add("c0")
    assert net.query("b0", "a") == m.Answer(7, Code.LIMIT)


def test_queries_without_time_or_number_and_those_of_strangers():
    net = Net([], {"p0": ("b0", ("a",), {})})
    assert net.query("b0", "a", left_ms=0) == m.Answer(7, Code.TIMEOUT)
    assert net.query("b0", "a", req=0).code is Code.BAD
    assert net.query("b0", "a", client="stranger") is None
    assert net.asked == []
    net.brokers["b0"].lookup("c0", m.Lookup(0, "a"))
    net.rest()
    assert net.heard["c0", 0].code is Code.BAD


def test_open_queries_are_bounded_and_so_is_their_time():
    providers = {f"p{i}": ("b0", ("a",), {}) for i in range(20)}
    net = Net([], providers, silent=providers)
    for number in range(MOST_OF_ONE + 1):
        net.brokers["b0"].query("c0", m.Query(number + 1, None, None, ("a",), 2**63))
    assert len(net.brokers["b0"]._asks) <= MOST_OPEN
    net.brokers["b0"].check_invariants()
    net.rest()
    assert net.heard["c0", MOST_OF_ONE + 1].code is Code.LIMIT
    net.pass_time(LONGEST_MS * MILLISECOND)
    assert not net.brokers["b0"]._asks
    assert len(net.heard) == MOST_OF_ONE + 1


def test_numbers_rise_and_differ_between_the_ends_of_an_edge():
    net = Net([("b0", "b1")], {})
    ours = [net.brokers["b0"]._next_number("b1") for _ in range(3)]
    theirs = [net.brokers["b1"]._next_number("b0") for _ in range(3)]
    assert ours == sorted(set(ours))
    assert not set(ours) & set(theirs)
    assert all(BROKER_BIT < number < 2**64 for number in ours + theirs)


def test_lookup_names_local_providers_first():
    providers = {f"p{i}": (f"b{i % 3}", ("a",), {}) for i in range(6)} | {"p9": ("b0", ("b",), {})}
    net = Net(CHAIN, providers)
    net.brokers["b1"].lookup("c0", m.Lookup(3, "a"))
    net.brokers["b1"].lookup("stranger", m.Lookup(4, "a"))
    net.brokers["b1"].lookup("c0", m.Lookup(5, "none"))
    net.rest()
    assert [one.id for one in net.heard["c0", 3].found] == ["p1", "p4", "p0", "p2", "p3", "p5"]
    assert net.heard["c0", 5] == m.Found(5)
    assert ("stranger", 4) not in net.heard


def test_lookup_is_bounded():
    net = Net([], {f"p{i}": ("b0", ("a",), {}) for i in range(MOST_FOUND + 5)})
    net.brokers["b0"].lookup("c0", m.Lookup(3, "a"))
    net.rest()
    assert len(net.heard["c0", 3].found) == MOST_FOUND
