"""The table of clients: collisions, takeover, unreachable and forgotten clients, order of registration."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.systems.radiator.clients.table import MAX_ANSWERS, Clients
from overlay.systems.radiator.wire.messages import Acceptance, Accepted, Registration
from tests.thorough import examples

A, B = ("10.0.0.1", 1000), ("10.0.0.1", 1001)


def register(clients, id="a", instance=1, address=A, req=1, now=0, attributes=None, is_p2p=True):
    return clients.register(address, id, instance, attributes or {}, is_p2p=is_p2p, req=req, now=now)


def ids(clients):
    return [entry.key[1] for entry in clients]


def test_the_same_instance_overwrites_and_keeps_its_place_and_last_context():
    clients = Clients(100)
    first = register(clients, attributes={"x": 1}).entry
    register(clients, "b", 2, B)
    first.last_context = "context"
    again = register(clients, req=2, attributes={"x": 2}, address=("10.0.0.1", 2000))
    assert (again.code, again.entry, again.is_changed) == (Registration.OK, first, True)
    assert ids(clients) == ["a", "b"]
    assert (first.attributes, first.address, first.last_context) == ({"x": 2}, ("10.0.0.1", 2000), "context")
    clients.check_invariants()


def test_an_older_registration_that_arrives_late_changes_nothing():
    clients = Clients(100)
    register(clients, req=2, attributes={"x": 2})
    late = register(clients, req=1, attributes={"x": 1})
    assert (late.code, late.is_changed, late.entry.attributes) == (Registration.OK, False, {"x": 2})


def test_another_instance_collides_while_the_old_one_is_reachable_and_takes_over_afterwards():
    clients = Clients(100)
    old = register(clients).entry
    register(clients, "b", 2, B)
    assert register(clients, instance=3).code is Registration.COLLISION
    clients.lose(old, 5)
    taken = register(clients, instance=3)
    assert (taken.code, taken.replaced) == (Registration.OK, old)
    assert ids(clients) == ["b", "a"]
    assert clients.of_instance("10.0.0.1", 1) is None
    clients.check_invariants()


def test_another_id_of_the_same_instance_collides_and_the_same_id_elsewhere_does_not():
    clients = Clients(100)
    register(clients)
    assert register(clients, "b", address=B, req=2).code is Registration.COLLISION
    assert register(clients, address=("10.0.0.2", 1000), instance=2).code is Registration.OK


def test_who_registers_from_the_address_of_another_client_displaces_it():
    clients = Clients(100)
    old = register(clients).entry
    assert register(clients, "b", 2).displaced is old
    assert not old.is_reachable
    clients.check_invariants()


def test_a_full_table_refuses_strangers_only():
    clients = Clients(100, most=1)
    register(clients)
    assert register(clients, "b", 2, B).code is Registration.FULL
    assert register(clients, req=2).code is Registration.OK


def test_a_socket_that_registers_again_and_again_has_two_entries_and_fills_no_table():
    clients = Clients(100, most=20)
    old = register(clients).entry
    gone = [register(clients, f"b{number}", 2 + number).displaced for number in range(20)]
    assert gone[0] is old
    assert ids(clients) == ["a", "b19"]
    assert not old.is_reachable
    clients.check_invariants()


HALVES = [("10.0.0.1", "10.0.0.1", 3), ("2001:db8::1", "2001:db8::2", 3), ("127.0.0.1", "127.0.0.1", 6)]


def test_one_host_has_half_of_the_table_at_most_unless_it_is_this_machine():
    for host, nearby, admitted in HALVES:
        clients = Clients(100, most=6)
        answers = [register(clients, f"a{n}", n, ((host, nearby)[n % 2], 1_000 + n)).code for n in range(1, 7)]
        assert answers.count(Registration.OK) == admitted
        is_full = register(clients, "b", 9, ("10.0.0.2", 1)).code is Registration.FULL
        assert is_full == (admitted == 6)
        clients.check_invariants()


def test_the_longest_unreachable_client_makes_room_in_a_full_table():
    clients = Clients(100, most=2)
    a, b = register(clients).entry, register(clients, "b", 2, ("10.0.0.9", 1)).entry
    clients.lose(b, 1)
    clients.lose(a, 2)
    other = ("10.0.0.2", 1000)
    assert register(clients, "c", 3, other).forgotten is b
    assert ids(clients) == ["a", "c"]
    assert register(clients, "d", 4, ("10.0.0.3", 1000)).forgotten is a
    assert register(clients, "e", 5, ("10.0.0.4", 1000)).code is Registration.FULL
    clients.check_invariants()


def test_an_unreachable_client_is_left_out_until_it_is_heard_and_forgotten_in_the_end():
    clients = Clients(forget_after=100)
    a, b = register(clients).entry, register(clients, "b", 2, B).entry
    assert clients.lose(a, 10)
    assert not clients.lose(a, 11)
    assert (clients.reachable, clients.p2p, clients.next_timer()) == ([b], 1, 110)
    assert clients.hear("10.0.0.1", 1, 50) is a
    assert (clients.reachable, clients.p2p, clients.next_timer()) == ([a, b], 2, None)
    clients.lose(a, 60)
    assert clients.forget(159) == []
    assert clients.forget(160) == [a]
    assert ids(clients) == ["b"]
    clients.check_invariants()


def test_unregistering_needs_the_instance_and_the_id():
    clients = Clients(100)
    entry = register(clients).entry
    assert clients.unregister("10.0.0.1", 2, "a") is None
    assert clients.unregister("10.0.0.1", 1, "b") is None
    assert clients.unregister("10.0.0.1", 1, "a") is entry
    assert len(clients) == 0
    clients.check_invariants()


def test_256_answers_are_remembered_and_older_requests_are_malformed():
    entry = register(Clients(100)).entry
    for req in range(1, MAX_ANSWERS + 3):
        entry.remember(Accepted(req, Acceptance.OK, 0))
    assert entry.recall(2) == Accepted(2, Acceptance.MALFORMED, 0)
    assert entry.recall(3) == Accepted(3, Acceptance.OK, 0)
    assert entry.recall(MAX_ANSWERS + 3) is None


def test_a_request_is_not_taken_if_its_answer_could_not_be_remembered():
    """It is older than the 256 that are, though none was forgotten yet."""
    entry = register(Clients(100)).entry
    for req in range(10, MAX_ANSWERS + 9):
        entry.remember(Accepted(req, Acceptance.OK, 0))
    assert entry.recall(9) is None
    entry.remember(Accepted(MAX_ANSWERS + 9, Acceptance.OK, 0))
    assert entry.recall(9) == Accepted(9, Acceptance.MALFORMED, 0)


STEPS = st.tuples(st.sampled_from(["register", "lose", "hear", "unregister", "forget"]), *[st.integers(0, 3)] * 3)


@settings(max_examples=examples(300))
@given(st.lists(STEPS, max_size=40))
def test_random_changes_keep_the_invariants(steps):
    clients = Clients(forget_after=5, most=3)
    for now, (what, id, instance, port) in enumerate(steps):
        entry = clients.of_instance("10.0.0.1", instance)
        if what == "register":
            register(clients, str(id), instance, ("10.0.0.1", 1000 + port), now, now, is_p2p=port > 1)
        elif what == "lose" and entry is not None:
            clients.lose(entry, now)
        elif what == "hear":
            clients.hear("10.0.0.1", instance, now)
        elif what == "unregister":
            clients.unregister("10.0.0.1", instance, str(id))
        elif what == "forget":
            clients.forget(now)
        clients.check_invariants()
