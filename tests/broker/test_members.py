"""Joining (8), leaving (7), monitoring (0), pings (1, 9), neighbours (18) and statistics (20)."""

from itertools import pairwise

from overlay.core.addresses import format_address
from tests.broker.transcript import STRANGER, A, B, C, D, E, K, Talk

JOINING, LEAVING, MONITORING = "BrokerJoining", "BrokerLeaving", "StartNeighborsMonitoring"


def joined(source, requester=A):
    return f"5|9|ACK|Status:101|Operation BrokerJoining|Requested by {format_address(requester)}"


def names(talk):
    return talk.broker.neighbours


def events(talk):
    return [type(event).__name__ for event in talk.broker.events()]


# ---- ping and questions


def test_a_ping_is_answered():
    talk = Talk()
    talk.wait(5)
    assert talk.hear(C, "1|3") == [("C", f"9|{talk.wall}|Ctx_Broker|10.0.0.1:4001")]


def test_neighbours_and_statistics_are_told():
    talk = Talk(B, D)
    assert talk.hear(C, "18|3") == [("C", f"19|{talk.wall}|10.0.0.2:4002|10.0.0.4:4004")]
    assert Talk().hear(C, "18|3") == [("C", f"19|{talk.wall}")]
    talk.provide()
    talk.wait(1500)
    ((_, text),) = talk.hear(C, "20|3")
    code, _, field = text.split("|")
    told = dict(pair.split("=") for pair in field.split(";"))
    assert code == "21"
    assert (told["entries"], told["in_2"], told["out_5"], told["uptime"]) == ("1", "1", "4", "1500")
    assert {"bytes", "forwards", "hits", "replicas", "expired", "rejected"} <= told.keys()


# ---- joining


def test_a_join_is_done_at_once_when_all_have_answered():
    talk = Talk()
    order = "8|7|10.0.0.2:4002|10.0.0.4:4004"
    assert talk.hear(K, order) == [talk.ack(101, JOINING, K), ("B", f"{order}|*"), ("D", f"{order}|*")]
    assert talk.hear(B, joined(B)) == []
    assert talk.hear(D, joined(D)) == [talk.ack(102, JOINING, K)]
    assert names(talk) == (B, D)
    assert talk.wait(5000) == []


def test_those_that_answer_in_time_become_neighbours_and_are_asked_again_twice():
    talk = Talk()
    order = "8|7|10.0.0.2:4002|10.0.0.4:4004"
    talk.hear(K, order)
    talk.hear(B, joined(B))
    sent = talk.wait(2000)
    assert [(at, name) for at, name, _ in sent] == [(333, "D"), (666, "D"), (1000, "K")]
    assert "Status:102" in sent[-1][2]
    assert names(talk) == (B,)
    assert talk.hear(D, joined(D)) == [], "too late"
    assert names(talk) == (B,)


def test_a_join_that_nobody_answers_is_refused():
    talk = Talk()
    talk.hear(K, "8|7|10.0.0.2:4002")
    assert talk.wait(1000)[-1] == (1000, *talk.nack(201, JOINING, 7, K))
    assert "JoinFailed" in events(talk)


def test_a_broker_never_joins_itself():
    talk = Talk()
    assert talk.hear(K, "8|7|10.0.0.1:4001") == [talk.ack(101, JOINING, K), talk.nack(201, JOINING, 7, K)]
    assert [name for name, _ in talk.hear(K, "8|7|10.0.0.1:4001|10.0.0.2:4002")] == ["K", "B"]
    assert talk.hear(A, "8|7|10.0.0.1:4001|*") == []
    assert names(talk) == ()


def test_joining_twice_is_harmless():
    talk = Talk(B)
    talk.hear(K, "8|7|10.0.0.2:4002")
    assert talk.hear(B, joined(B)) == [talk.ack(102, JOINING, K)]
    assert talk.hear(B, "8|7|10.0.0.1:4001|*") == [talk.ack(101, JOINING, B)]
    assert names(talk) == (B,)


def test_a_broker_that_joins_us_is_taken_in_and_acknowledged():
    talk = Talk()
    assert talk.hear(B, "8|7|10.0.0.1:4001|10.0.0.4:4004|*") == [talk.ack(101, JOINING, B)]
    assert names(talk) == (B,)
    assert events(talk) == ["NeighbourJoined"]


def test_an_acknowledgement_that_nobody_asked_for_makes_no_neighbour():
    talk = Talk()
    assert talk.hear(B, joined(B)) == []
    talk.hear(K, "8|7|10.0.0.2:4002")
    talk.hear(D, joined(D))
    talk.hear(B, joined(B).replace("BrokerJoining", "BrokerLeaving"))
    talk.hear(B, joined(B).replace("101", "102"))
    assert names(talk) == ()
    assert talk.stats()["rejected_stray"] == 4


def test_neighbours_are_bounded():
    talk = Talk(B, neighbour_capacity=1)
    assert talk.hear(D, "8|7|10.0.0.1:4001|*") == []
    assert talk.hear(K, "8|7|10.0.0.4:4004|10.0.0.5:4005")[1] == talk.nack(201, JOINING, 7, K)
    assert names(talk) == (B,)


# ---- leaving


def test_leaving_is_told_three_times_within_a_second():
    talk = Talk(B, D)
    assert talk.hear(K, "7|7") == [talk.ack(101, LEAVING, K), ("B", "7|7|*"), ("D", "7|7|*")]
    assert names(talk) == ()
    sent = talk.wait(5000)
    assert [(name, text) for _, name, text in sent] == [("B", "7|7|*"), ("D", "7|7|*")] * 2
    assert sent[-1][0] < 1000
    assert talk.hear(C, "1|1")[0][1].startswith("9|"), "it still answers pings"


def test_a_neighbour_that_leaves_is_forgotten_and_only_it_can_say_so():
    talk = Talk(B, D)
    assert talk.hear(E, "7|7|*") == []
    assert names(talk) == (B, D)
    assert talk.hear(B, "7|7|*") == []
    assert names(talk) == (D,)
    assert talk.stats()["rejected_command"] == 1


def test_one_that_left_says_so_to_a_broker_that_still_forwards_to_it_and_serves_it():
    talk = Talk(B)
    talk.provide()
    talk.hear(K, "7|7")
    talk.wait(1000)
    told, answered = talk.ask(source=B, hops=[C])
    assert told == ("B", f"7|{talk.wall}|*")
    assert answered[1].startswith("4|")


def test_a_rejoined_broker_is_not_undone_by_a_late_farewell():
    talk = Talk(B, D)
    talk.hear(K, "7|7")
    talk.hear(K, "8|8|10.0.0.2:4002")
    assert ("B", "7|7|*") not in [(name, text) for _, name, text in talk.wait(400)], "not even before it has answered"
    talk.hear(B, joined(B))
    assert {name for _, name, _ in talk.wait(3000)} == {"D"}
    assert names(talk) == (B,)
    assert talk.ask(source=B, hops=[C])[0][1].startswith("6|"), "and does not say that it has left"


def test_leaving_ends_a_join_under_way():
    talk = Talk()
    talk.hear(K, "8|7|10.0.0.2:4002")
    assert talk.hear(K, "7|8") == [talk.ack(101, LEAVING, K), talk.nack(201, JOINING, 7, K), ("B", "7|8|*")]
    assert talk.hear(B, joined(B)) == []
    assert names(talk) == ()


# ---- monitoring


def pings(sent):
    return [(at, name) for at, name, text in sent if text.startswith("1|")]


def answer(talk, *brokers):
    for broker in brokers:
        talk.hear(broker, f"9|1|Ctx_Broker|{format_address(broker)}")


def test_monitoring_is_acknowledged_once_and_idempotent():
    talk = Talk(B)
    assert talk.hear(K, "0|7") == [talk.ack(101, MONITORING, K), ("B", f"1|{talk.wall}")]
    assert talk.hear(K, "0|7") == [talk.ack(101, MONITORING, K)]
    answer(talk, B)
    assert pings(talk.wait(1000)) == [(1000, "B")]


def test_a_neighbour_that_misses_three_pings_in_a_row_is_dropped():
    talk = Talk(B, D)
    talk.hear(K, "0|7")
    for _ in range(3):
        answer(talk, B)
        talk.wait(1000)
    assert names(talk) == (B,)
    assert events(talk)[-1] == "NeighbourLost"


def test_two_misses_are_forgiven():
    talk = Talk(B)
    talk.hear(K, "0|7")
    for _ in range(4):
        talk.wait(2000)
        answer(talk, B)
    assert names(talk) == (B,)


def test_a_dropped_one_is_pinged_ever_more_seldom_and_taken_back_when_it_answers():
    talk = Talk(B)
    talk.hear(K, "0|7")
    talk.wait(3000)
    assert names(talk) == ()
    times = [at for at, _ in pings(talk.wait(60_000))]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert len(gaps) > 5
    assert gaps == sorted(set(gaps))
    answer(talk, B)
    assert names(talk) == (B,)
    assert events(talk)[-1] == "NeighbourReturned"
    assert pings(talk.wait(1000))


def test_after_an_outage_of_half_a_minute_a_neighbour_is_back_within_a_quarter():
    talk = Talk(B)
    talk.hear(K, "0|7")
    talk.wait(30_000)
    assert pings(talk.wait(15_000))


def test_one_that_left_is_never_pinged_again():
    talk = Talk(B)
    talk.hear(K, "0|7")
    talk.wait(3000)
    talk.hear(B, "7|7|*")
    assert pings(talk.wait(100_000)) == []


def test_a_ping_response_that_nobody_asked_for_is_counted():
    talk = Talk(B)
    answer(talk, B, D)
    assert talk.stats()["rejected_stray"] == 2
    assert names(talk) == (B,)


# ---- who may command


def test_commands_from_outside_the_controller_networks_are_refused_by_name():
    talk = Talk(B, controller_networks="10.0.0.6/32")
    for order, operation in (("0|7", MONITORING), ("7|7", LEAVING), ("8|7|10.0.0.4:4004", JOINING)):
        assert talk.hear(C, order) == [talk.nack(301, operation, 7)]
    assert names(talk) == (B,)
    assert talk.wait(5000) == []


def test_a_stranger_joins_only_if_we_are_joining_it():
    talk = Talk()
    assert talk.hear(STRANGER, "8|7|10.0.0.1:4001|*") == []
    assert talk.stats()["rejected_command"] == 1
    talk.hear(K, "8|7|203.0.113.7:4007")
    for _ in range(2):  # it asks again where our acknowledgement was lost
        assert talk.hear(STRANGER, "8|7|10.0.0.1:4001|*") == [talk.ack(101, JOINING, STRANGER)]
