"""Shares of what a server retains: however much one source sends, the first messages of others are accepted."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.binary import canonical
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.radiator.clients.table import Caller, Clients
from overlay.systems.radiator.config import Transport
from overlay.systems.radiator.middleware.calls import Calls
from overlay.systems.radiator.server.shares import Shares
from overlay.systems.radiator.wire import messages as m
from tests.radiator.test_middleware import HOME, OTHER, Desk
from tests.thorough import examples


def registered(clients, ip, number):
    admission = clients.register((ip, 1_000 + number), f"c{number}", number, {}, is_p2p=False, req=1, now=0)
    return admission.entry


@settings(max_examples=examples(150))
@given(
    most=st.integers(2, 300),
    others=st.lists(st.sampled_from(["10.0.0.2", "10.0.0.3", "2001:db8::1", "127.0.0.1"]), min_size=1, max_size=8),
    flooder=st.sampled_from(["10.0.0.9", "2001:db8:9::"]),
    turns=st.lists(st.tuples(st.booleans(), st.integers(0, 7), st.integers(0, 50)), max_size=80),
)
def test_a_source_that_floods_refuses_nobody_elses_first_messages(most, others, flooder, turns):
    """However many clients it registers, and whatever it sends before and between the messages of others."""
    clients, shares, numbers = Clients(100), Shares(most), iter(range(10**9))
    there = [registered(clients, ip, number) for number, ip in enumerate(others)]
    siblings = max(clients.caller(entry).siblings for entry in there)
    sources = clients.caller(there[0]).sources + 1
    sure = most // 2 // (8 * sources * siblings)
    sent = [0] * len(there)
    for is_flood, which, many in turns:
        if is_flood:
            entry = registered(clients, f"{flooder}{which:x}" if ":" in flooder else flooder, 100 + many)
            caller = clients.caller(entry or clients.get((flooder, f"c{100 + many}")) or there[0])
            attempts = many * 10 if entry is not None else 0
            for _ in range(attempts):
                if shares.refusal(caller) is None:
                    shares.keep(next(numbers), caller)
        else:
            place = which % len(there)
            caller = clients.caller(there[place])
            if sent[place] < sure:
                assert shares.refusal(caller) is None
                shares.keep(next(numbers), caller)
                sent[place] += 1
        shares.check_invariants()


def of(source, client=0, sources=2, siblings=1):
    return Caller(source, client, sources, siblings)


def fill(shares, caller, first=0):
    """Until it is refused. Returns how many were accepted, and why the next one is not."""
    count = 0
    while (why := shares.refusal(caller)) is None:
        shares.keep(first + count, caller)
        count += 1
    return count, why


def test_one_alone_has_more_than_half_and_who_comes_next_an_equal_part_of_the_rest():
    shares = Shares(100)
    assert fill(shares, of("flood")) == (62, m.Acceptance.OVER_SHARE)  # 50, then while it has less than free / 3
    assert fill(shares, of("other", 1), 100) == (7, m.Acceptance.OVER_SHARE)
    shares.let_go(range(62))
    assert fill(shares, of("other", 1), 200)[0] > 50
    shares.check_invariants()


def test_a_client_has_an_equal_part_of_what_its_source_has():
    shares = Shares(1_000)
    first, _ = fill(shares, of("gateway", 1, siblings=10))
    second, _ = fill(shares, of("gateway", 2, siblings=10), 1_000)
    assert (first - 500, second) == (16, 15)


def test_a_full_store_is_busy_and_a_source_always_has_one_while_anything_is_free():
    shares = Shares(3)
    assert fill(shares, of("a")) == (3, m.Acceptance.BUSY)
    assert len(shares) == 3
    shares.let_go([2])
    assert fill(shares, of("b", 1, sources=50), 10) == (1, m.Acceptance.BUSY)


def test_on_the_servers_machine_each_client_is_a_source():
    clients = Clients(100)
    entries = [registered(clients, ip, n) for n, ip in enumerate(["127.0.0.1", "127.0.0.1", "10.0.0.2", "10.0.0.2"])]
    callers = [clients.caller(entry) for entry in entries]
    assert len({caller.source for caller in callers}) == 3
    assert [(caller.sources, caller.siblings) for caller in callers] == [(3, 1), (3, 1), (3, 2), (3, 2)]


def flooding(desk, instance, source, first=2):
    """A client that calls until it is refused. Returns how many contexts were accepted, and the refusal."""
    for req in range(first, 10_000):
        ((answer, _),) = desk.ask(m.Context(req, instance, 0, 0, canonical({})), source)
        if answer.code:
            return req - first, answer.code
    raise AssertionError("never refused")


def local(instance):
    return "127.0.0.1", 1_000 + instance


def test_who_leaves_the_servers_machine_and_registers_again_gains_nothing():
    desk = Desk(Transport(codec="none", retained_max=200))
    desk.node._aggregator.volume = 1_000
    for instance, source in ((1, local(1)), (2, HOME)):
        desk.register(f"c{instance}", instance, source)
    gained = []
    for instance in range(3, 33):
        desk.register(f"flood{instance}", instance, local(instance))
        gained.append(flooding(desk, instance, local(instance))[0])
        desk.ask(m.Unregister(5_000, instance, f"flood{instance}"), local(instance))
    assert gained[0] > 100, "all of the common half and a part of the other"
    assert sum(gained[1:]) == 0
    assert len(desk.node._shares._heirs) == 0 and len(desk.node._shares._left) == 1
    others = [flooding(desk, instance, source) for instance, source in ((1, local(1)), (2, HOME))]
    assert all(accepted > 5 and code == m.Acceptance.OVER_SHARE for accepted, code in others)


def test_a_newcomer_takes_over_one_part_and_the_next_one_has_its_own():
    """Until what was left behind is sent: then no client is charged for it."""
    shares = Shares(100)
    fill(shares, of(1, 1))
    shares.leave(1)
    shares.enter(2)
    shares.enter(3)
    assert fill(shares, of(2, 2), 200) == (0, m.Acceptance.OVER_SHARE)
    assert fill(shares, of(3, 3), 300)[0] > 5
    shares.let_go(range(100))
    assert fill(shares, of(2, 2), 400)[0] > 50
    shares.leave(2)
    shares.let_go(range(400, 500))
    shares.enter(4)
    shares.check_invariants()
    assert not shares._heirs and not shares._left


def test_the_server_says_who_is_over_its_share_and_counts_it():
    desk = Desk(Transport(codec="none", retained_max=12))
    desk.node._aggregator.volume = 1_000
    desk.register("a", 1, HOME)
    desk.register("b", 2, OTHER)

    def call(req, instance, source):
        ((answer, _),) = desk.ask(m.Context(req, instance, 0, 0, canonical({})), source)
        return answer

    codes = [call(req, 1, HOME).code for req in range(2, 12)]
    assert codes == [0] * 7 + [m.Acceptance.OVER_SHARE] * 3
    assert call(20, 1, HOME) == m.Accepted(20, m.Acceptance.OVER_SHARE, 1_000)
    assert call(2, 2, OTHER).code == m.Acceptance.OK
    assert (desk.node.counts["over_share"], desk.node.counts["busy"]) == (4, 0)
    desk.ask(m.Unregister(30, 1, "a"), HOME)
    desk.ask(m.Unregister(30, 2, "b"), OTHER)
    assert len(desk.node._shares) == 0, "a message whose recipients have all left is retained no longer"


@pytest.mark.parametrize("code", [m.Acceptance.BUSY, m.Acceptance.OVER_SHARE])
def test_a_caller_comes_back_later_and_is_told_why_in_the_end(code):
    calls = Calls(Transport(tries=2), lambda *_: None)
    call = calls.begin(m.Context(1, 1, 0, 0, b"{}"), 9, 0)
    assert not calls.receive(m.Accepted(1, code, 1_000), 0)
    assert (call.result, calls.next_timer()) == ("open", 10**9)
    calls.handle_timer(10**9)
    calls.receive(m.Accepted(1, code, 1_000), 10**9)
    assert call.result == {m.Acceptance.BUSY: "busy", m.Acceptance.OVER_SHARE: "over its share"}[code]


def beside_one_that_calls(every_ms, seconds=60):
    """A client that comes back when it is told, each time with a message of 1 kB, next to one that never waits.

    The uplink sends such a message to both in a second, and is full with one. Returns how many each had accepted, and
    the answers to the one that never waits.
    """
    desk = Desk(Transport(codec="none", uplink_bytes_per_s=2_000, uplink_queue_bytes=1_000))
    desk.register("calm", 1, HOME)
    desk.register("flood", 2, OTHER)
    said, comes_at = {HOME: Counter(), OTHER: Counter()}, {HOME: 0, OTHER: 0}
    reqs = {HOME: 10, OTHER: 10}
    for _ in range(seconds * 1_000 // every_ms):
        sent = desk.pass_time(every_ms / 1_000)
        for source, instance in ((HOME, 1), (OTHER, 2)):
            if comes_at[source] <= desk.now:
                reqs[source] += source == OTHER
                comes_at[source] = desk.now + (SECOND if source == HOME else 0)
                sent += desk.ask(m.Context(reqs[source], instance, 0, 0, canonical({"x": "y" * 1_000})), source)
        for message, to in sent:
            if isinstance(message, m.Push):
                place = (message.epoch, message.propagation, message.chain, message.attempt, 1)
                desk.ask(m.Ack(*place, bytes(32)), to)
            elif isinstance(message, m.Accepted):
                said[to][message.code] += 1
                if to == HOME:
                    comes_at[to] = desk.now + message.retry_ms * MILLISECOND
                    reqs[to] += message.code == m.Acceptance.OK
    return said[HOME][m.Acceptance.OK], said[OTHER][m.Acceptance.OK], sum(said[OTHER].values())


def test_a_caller_that_ignores_when_to_come_back_takes_neither_turns_nor_room_nor_the_uplink():
    calm, flood, answers = beside_one_that_calls(every_ms=20)
    assert calm >= 2, "its turns come"
    assert calm + flood > 25, "of 55 at most: the uplink is used for messages"
    assert answers < 200, "of 3,000 calls"
