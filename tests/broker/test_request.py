"""Request (3), Response (4) and the refusals on the way back."""

import pytest

from tests.broker.transcript import WALL, A, B, C, D, E, Talk, hop

REQUEST = "ContextRequest"


def found(talk, tail=""):
    """The Response with what ``Talk.provide`` stored at the very beginning."""
    return f"4|{talk.wall}|9|p1|room|r1|temp|{talk.wall - 1000}|{talk.wall + 120_000}|degC=21.5{tail}"


# ---- the worked example of the wire protocol: C -> A -> B -> D, and back


def test_the_worked_example():
    at_a, at_b, at_d = Talk(B), Talk(A, D, address=B), Talk(B, address=D)
    at_d.provide()
    t = at_a.wall + 77
    assert at_a.hear(C, f"3|{t}|room|r1|temp") == [
        at_a.ack(101, REQUEST),
        ("B", f"3|{t}|room|r1|temp{hop(C)}"),
    ]
    assert at_b.hear(A, f"3|{t}|room|r1|temp{hop(C)}") == [("D", f"3|{t}|room|r1|temp{hop(C, A)}")]
    (to_b,) = at_d.hear(B, f"3|{t}|room|r1|temp{hop(C, A)}")
    assert to_b in [("B", found(at_d, f"{hop(C)}|*{hop(A)}")), ("B", found(at_d, f"{hop(C)}{hop(A)}|*"))]
    assert at_b.hear(D, found(at_d, f"{hop(C)}{hop(A)}|*")) == [("A", found(at_d, hop(C)))]
    assert at_b.stats()["replicas"] == at_b.stats()["entries"] == 1
    assert at_a.hear(B, found(at_d, hop(C))) == [("C", found(at_d)), at_a.ack(102, REQUEST)]
    assert at_a.stats()["entries"] == 0
    assert at_b.ask(source=C) == [at_b.ack(101, REQUEST), ("C", found(at_d)), at_b.ack(102, REQUEST)]


def test_own_data_is_answered_straight():
    talk = Talk(B)
    talk.provide()
    assert talk.ask() == [talk.ack(101, REQUEST), ("C", found(talk)), talk.ack(102, REQUEST)]


def test_a_request_with_hops_is_acknowledged_nothing():
    talk = Talk(B)
    talk.provide()
    assert talk.ask(source=B, hops=[C]) == [("B", found(talk, f"{hop(C)}|*"))]


@pytest.mark.parametrize("settings", [{}, {"walk_policy": "backtrack"}])
@pytest.mark.parametrize("mark", ["", "|*"])
def test_a_consumer_is_told_that_nothing_was_found_where_the_answer_expired_on_its_way(settings, mark):
    talk = Talk(B, **settings)
    talk.ask(stamp=WALL + 1)
    talk.wait(50)
    expired = f"4|{WALL}|1|p1|room|r1|temp|{WALL - 9}|{WALL + 50}|x{hop(C)}{mark}"
    assert talk.hear(B, expired) == [talk.nack(202, REQUEST, WALL + 1)]
    assert talk.stats()["not_found"] == 1


def test_an_answer_that_expired_is_passed_on_to_the_consumers_broker_which_sees_to_it():
    talk = Talk(B)
    talk.ask(source=D, hops=[C])
    talk.wait(50)
    expired = f"4|{WALL}|1|p1|room|r1|temp|{WALL - 9}|{WALL + 50}|x{hop(C)}"
    assert talk.hear(B, expired + hop(D)) == [("D", expired)]


def test_a_mark_before_the_last_hop_travels_on():
    talk = Talk(B)
    talk.ask(source=D, hops=[C, E], stamp=5)
    sent = talk.hear(B, found(talk, f"{hop(C)}|*{hop(E)}{hop(D)}"))
    assert sent == [("D", found(talk, f"{hop(C)}|*{hop(E)}"))]
    assert talk.stats()["replicas"] == 0


def test_the_consumers_broker_keeps_its_replica_too():
    talk = Talk(B)
    talk.ask()
    assert talk.hear(B, found(talk, f"{hop(C)}|*")) == [("C", found(talk)), talk.ack(102, REQUEST)]
    assert talk.ask() == [talk.ack(101, REQUEST), ("C", found(talk)), talk.ack(102, REQUEST)]


def test_a_replica_is_stored_by_the_rule_of_store():
    talk = Talk(B)
    stale = found(talk, f"{hop(C)}|*").replace("21.5", "11.1")
    talk.ask(stamp=5)
    talk.provide(stamp=talk.wall + 1, payload="newer")
    talk.hear(B, stale)
    assert talk.ask()[1][1].endswith("|newer")
    future = f"4|{talk.wall + 30_001}|1|p9|room|r9|temp|1|{talk.wall + 99_999}|x{hop(C)}|*"
    talk.ask("room|r9|temp", stamp=6)
    assert talk.hear(B, future)[0] == ("C", future.removesuffix(f"{hop(C)}|*"))
    assert talk.stats()["replicas"] == 0


@pytest.mark.parametrize(
    ("source", "tail", "why"),
    [
        (D, hop(C), "not from the neighbour that was asked"),
        (B, "", "no hops"),
        (B, hop(D), "other hops"),
        (B, hop(C, A), "more hops"),
    ],
)
def test_a_response_that_answers_nothing_pending_is_dropped_and_counted(source, tail, why):
    talk = Talk(B)
    talk.ask()
    assert talk.hear(source, found(talk, tail)) == [], why
    assert talk.hear(B, found(talk, hop(C)).replace("|temp|", "|humidity|")) == []
    assert talk.stats()["rejected_stray"] == 2
    assert talk.hear(B, found(talk, hop(C)))[0] == ("C", found(talk))
    assert talk.hear(B, found(talk, hop(C))) == [], "only once"


def test_a_response_after_the_deadline_answers_nothing():
    talk = Talk(B, pending_deadline_ms=500)
    talk.ask()
    assert talk.stats()["pending"] == 1
    talk.wait(500)
    assert talk.hear(B, found(talk, hop(C))) == []
    assert (talk.stats()["pending"], talk.stats()["pending_expired"]) == (0, 1)


def test_two_queries_on_one_path_are_both_answered():
    talk = Talk(B)
    talk.ask(stamp=1)
    talk.ask(stamp=2)
    assert talk.hear(B, found(talk, hop(C)))[0] == ("C", found(talk))
    assert talk.hear(B, found(talk, hop(C)))[0] == ("C", found(talk))
    assert talk.stats()["pending"] == 0


# ---- duplicates


def test_a_duplicate_from_a_consumer_is_acknowledged_and_not_forwarded_again():
    talk = Talk(B)
    talk.ask(stamp=5)
    assert talk.ask(stamp=5) == [talk.ack(101, REQUEST)]
    assert [name for name, _ in talk.ask(stamp=6)] == ["C", "B"]


def test_a_duplicate_from_a_broker_is_dropped():
    talk = Talk(B, D)
    assert len(talk.ask(source=B, hops=[C], stamp=5)) == 1
    assert talk.ask(source=B, hops=[C], stamp=5) == []
    assert len(talk.ask(source=B, hops=[E], stamp=5)) == 1
    assert talk.stats()["rejected_duplicate"] == 1


# ---- not found


def test_not_found_at_the_consumers_own_broker():
    talk = Talk()
    assert talk.ask(stamp=5) == [talk.ack(101, REQUEST), talk.nack(202, REQUEST, 5)]


def test_a_dead_end_is_refused_towards_the_sender_with_all_hops():
    talk = Talk(B)
    (refused,) = talk.ask(source=B, hops=[C, D], stamp=5)
    assert refused == ("B", f"6|5|NACK|Status:202|Operation ContextRequest|Requested by 10.0.0.3:4003{hop(C, D)}")


@pytest.mark.parametrize("status", [201, 202, 301])
def test_a_refusal_travels_back_hop_by_hop(status):
    nack = f"6|5|NACK|Status:{status}|Operation ContextRequest|Requested by 10.0.0.3:4003"
    middle, first = Talk(D, address=B), Talk(B)
    middle.ask(source=A, hops=[C], stamp=5)
    assert middle.hear(D, f"{nack}{hop(C, A)}") == [("A", f"{nack}{hop(C)}")]
    first.ask(stamp=5)
    assert first.hear(B, f"{nack}{hop(C)}") == [("C", nack)]
    assert first.stats()["pending"] == 0


def test_a_refusal_that_matches_nothing_is_dropped():
    talk = Talk(B)
    talk.ask(stamp=5)
    nack = "NACK|Status:202|Operation ContextRequest|Requested by 10.0.0.3:4003"
    assert talk.hear(D, f"6|5|{nack}{hop(C)}") == []
    assert talk.hear(B, f"6|6|{nack}{hop(C)}") == []
    assert talk.hear(B, f"6|5|{nack}{hop(C, A)}") == []
    assert talk.hear(B, f"6|5|{nack}") == []
    assert talk.hear(B, f"6|5|{nack}{hop(C)}".replace("ContextRequest", "Unknown")) == []
    assert talk.stats()["pending"] == 1


def test_ttl_counts_the_hops_of_the_request_as_received():
    talk = Talk(B, D, walk_ttl=1)
    assert [name for name, _ in talk.ask()] == ["C", "B"] or talk.stats()["forwards"] == 1
    (refused,) = talk.ask(source=B, hops=[C])
    assert refused[0] == "B"
    assert "Status:202" in refused[1]


def test_a_full_pending_table_ends_the_walk_and_frees_itself():
    talk = Talk(B, pending_capacity=1, pending_deadline_ms=1000)
    talk.ask(stamp=5)
    assert talk.ask(stamp=6) == [talk.ack(101, REQUEST), talk.nack(202, REQUEST, 6)]
    talk.now += 1000 * 1_000_000  # no timer has run yet
    assert [name for name, _ in talk.ask(stamp=7)] == ["C", "B"]


def test_a_walk_ends_where_one_more_hop_does_not_fit_the_datagram():
    talk = Talk(B, D, walk_ttl=4000)
    path = [("10.200.200.200", 50_000)] * 3100
    (to_neighbour,) = talk.ask(source=B, hops=path)
    assert to_neighbour[0] == "D"
    full = "3|5|room|r1|temp" + "|10.200.200.200|50000" * 3118
    assert len(full) <= 65_507 < len(full) + len(hop(B))
    assert talk.hear(B, full) == [], "not even the NACK fits"
    assert talk.stats()["oversized"] == 1


def test_a_response_too_long_for_its_marks_loses_them_and_then_is_refused():
    talk = Talk(B, replication_index=4000)
    talk.provide(payload="x" * 60_000)
    path = [("10.1.1.1", port) for port in range(10_001, 10_351)]
    assert "*" in talk.ask(source=B, hops=path[:200])[0][1]
    without = talk.ask(source=B, hops=path)[0][1]
    assert without.startswith("4|")
    assert "*" not in without
    (refused,) = talk.ask(source=B, hops=path * 2)
    assert refused[1].startswith("6|")
    assert "Status:201" in refused[1]
    assert refused[1].endswith(hop(*path))


# ---- policies


def choices(policy, neighbours, hops, source):
    seen = set()
    for seed in range(60):
        talk = Talk(*neighbours, seed=seed, walk_policy=policy)
        seen |= {name if text[0] == "3" else "nobody" for name, text in talk.ask(source=source, hops=hops)}
    return seen


def test_avoid_prefers_the_unvisited_then_any_but_the_sender_then_gives_up():
    assert choices("avoid", [B, D, E], [C, D], B) == {"E"}
    assert choices("avoid", [B, D, E], [C, D, E], B) == {"D", "E"}
    assert choices("avoid", [B], [C], B) == {"nobody"}


def test_noback_takes_any_but_the_sender():
    assert choices("noback", [B, D, E], [C, D], B) == {"D", "E"}
    assert choices("noback", [B], [C], B) == {"nobody"}


def test_uniform_takes_any():
    assert choices("uniform", [B, D, E], [C, D], B) == {"B", "D", "E"}


# ---- replication


def marked(hops, source, **settings):
    """Which brokers were asked to replicate, over many draws: a set of sets."""
    drawn = set()
    for seed in range(40):
        talk = Talk(source, seed=seed, **settings)
        talk.provide()
        fields = talk.ask(source=source, hops=hops)[0][1].split("|")[10:]
        slots, brokers = [i for i, field in enumerate(fields) if field == "*"], [*hops[1:], source]
        drawn.add(frozenset(brokers[sum(f != "*" for f in fields[:i]) // 2 - 1] for i in slots))
    return drawn


def test_one_broker_between_consumer_and_holder_is_drawn():
    assert marked([C, D], B) == {frozenset([D]), frozenset([B])}


def test_an_index_beyond_the_path_marks_all_but_the_answering_one():
    assert marked([C, D, A, E], B, replication_index=9) == {frozenset([D, E, B])}
    assert marked([C, D], B, replication_index=0) == {frozenset()}


def test_a_broker_passed_twice_counts_once_at_its_slot_nearest_the_consumer():
    talk = Talk(B, replication_index=9)
    talk.provide()
    assert talk.ask(source=B, hops=[C, B, D])[0][1].endswith(f"{hop(C)}|*{hop(B)}|*{hop(D)}")


@pytest.mark.parametrize(("period", "marks"), [(59_999, 0), (60_000, 1)])
def test_data_of_a_short_validity_is_not_replicated(period, marks):
    talk = Talk(B)
    talk.provide(valid=(-1000, period - 1000))
    assert talk.ask(source=B, hops=[C])[0][1].count("*") == marks
