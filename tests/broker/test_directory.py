"""What a broker tells clients that look for one (38): its load, and some of its neighbours."""

from overlay.core.addresses import parse_address
from overlay.systems.context_broker.broker.directory import MOST
from overlay.systems.context_broker.wire.codec import parse
from overlay.systems.context_broker.wire.discovery_messages import BrokersResponse
from overlay.systems.context_broker.wire.messages import Nack
from tests.broker.transcript import STRANGER, A, B, C, D, K, Talk


def told(talk, asker, message):
    """The answers to a datagram, parsed."""
    return [parse(answer.encode()) for _, _, answer in [(0, *one) for one in talk.hear(asker, message)]]


def joined(talk, *brokers):
    for broker in brokers:
        talk.hear(broker, f"8|1|{A[0]}:{A[1]}|*")


def test_neighbours_are_told_by_turns_and_the_answer_has_the_timestamp_of_the_question():
    talk = Talk()
    joined(talk, B, C, D)
    answers = [told(talk, K, f"38|{stamp}|2")[0] for stamp in (7, 8, 9)]
    assert [answer.timestamp for answer in answers] == [7, 8, 9]
    assert [answer.brokers for answer in answers] == [(B, C), (D, B), (C, D)]
    assert [len(told(talk, K, f"38|{stamp}|{most}")[0].brokers) for stamp, most in ((1, 0), (2, 3), (3, 10**9))] == [
        0,
        3,
        3,
    ]
    assert MOST >= 3


def test_the_load_is_what_arrived_per_second_since_the_last_question():
    talk = Talk()
    assert told(talk, K, "38|1|0")[0].load_per_s == 0
    talk.wait(2000)
    for number in range(10):
        talk.hear(K, f"32|{number}|room|r1|temp")
    assert told(talk, K, "38|2|0")[0].load_per_s == 5
    assert told(talk, K, "38|3|0")[0].load_per_s == 5, "the same within a second"
    talk.wait(1000)
    assert told(talk, K, "38|4|0")[0].load_per_s == 0


def test_strangers_get_three_times_their_bytes_at_most():
    talk = Talk()
    joined(talk, B, C, D)
    question = "38|1795338000000|8"
    (answer,) = talk.hear(STRANGER, question)
    assert len(answer[1]) <= 3 * len(question)
    found = parse(answer[1].encode())
    assert isinstance(found, BrokersResponse)
    assert 1 <= len(found.brokers) < 3


def test_one_that_has_left_takes_no_clients():
    talk = Talk()
    joined(talk, B)
    talk.hear(K, "7|1")
    (refusal,) = told(talk, K, "38|5|8")
    assert isinstance(refusal, Nack)
    assert (refusal.status, refusal.timestamp, refusal.operation) == (201, 5, "BrokersRequest")
    joined(talk, B)
    assert told(talk, K, "38|6|8")[0].brokers == (parse_address(f"{B[0]}:{B[1]}"),)
