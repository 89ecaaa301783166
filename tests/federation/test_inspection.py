"""What brokers and the registration service tell the operators of their host, and what strangers get."""

from __future__ import annotations

import random

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.channel import wire as channel
from overlay.core.chance import Chances
from overlay.core.strangers import MOST_TIMES
from overlay.messages.errors import Reason
from overlay.peers.questions import ASKER, Inspect, Outcome, question, read_answer, read_question
from overlay.systems.federation.config import ServerConfig
from overlay.systems.federation.names import BDRS, BROKER
from overlay.systems.federation.peers import SUBJECTS
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.subjects import Subject
from overlay.systems.federation.system import SYSTEM
from overlay.systems.federation.wire.codec import CODEC
from overlay.systems.federation.wire.messages import Code
from overlay.systems.roles import Place

SERVERS = (("127.0.0.1", 7000), ("127.0.0.1", 7001))
OPERATOR, STRANGER = ("127.0.0.1", 9999), ("10.0.0.1", 2001)


def server(role):
    index = 0 if role == BROKER else 1
    place = Place(f"{role}-0", index, SERVERS[index], SERVERS)
    config = ServerConfig(Settings(mobile_brokers="0", bulk="on"), 1)
    return SYSTEM.make_server(config, place, Chances.of_one(random.Random(1)), 0)


def ask(node, source, data):
    node.receive_datagrams([(data, source)], 1_000)
    node.check_invariants()
    return [data for data, to in node.datagrams_to_send() if to == source]


def inspect(node, source, **fields):
    sent = Inspect(7, **fields)
    data = channel.loose(ASKER, question(sent))
    (answer,) = ask(node, source, data)
    return data, answer, read_answer(answer)


@pytest.mark.parametrize("role", [BROKER, BDRS])
def test_counters_need_no_token_as_the_question_has_a_third_of_the_bytes(role):
    node = server(role)
    request = SYSTEM.statistics_request(5)
    (answer,) = ask(node, OPERATOR, request)
    assert SYSTEM.read_statistics(answer).items() >= {"epoch": 0}.items()
    assert len(answer) <= MOST_TIMES * len(request)


def test_all_counters_that_a_broker_can_have_fit_into_three_times_the_question():
    node = server(BROKER)
    counters = node.peers.counters
    for layout in CODEC.layouts:
        for name in (f"in_{layout.name}", f"out_{layout.name}", f"out_{layout.name}_bytes"):
            counters[name.lower()] = 10**12
    for name in [*(f"refused_{one.name}" for one in Code), *(f"malformed_{one}" for one in Reason)]:
        counters[name.lower()] = 10**12
    (answer,) = ask(node, OPERATOR, SYSTEM.statistics_request(5))
    assert SYSTEM.read_statistics(answer)["out_forward_bytes"] == 10**12


@pytest.mark.parametrize("role", [BROKER, BDRS])
@pytest.mark.parametrize("subject", set(Subject) - {Subject.FIGURES})
def test_an_address_that_is_not_proven_gets_little_and_another_host_nothing(role, subject):
    node = server(role)
    for source, outcome in ((OPERATOR, Outcome.TOKEN), (STRANGER, Outcome.ELSEWHERE)):
        request, answer, found = inspect(node, source, subject=subject, limit=100)
        assert (found.req, found.outcome, found.content) == (7, outcome, b"")
        assert len(answer) <= MOST_TIMES * len(request)
    assert inspect(node, OPERATOR, token=1, subject=subject)[2].outcome is Outcome.TOKEN, "a wrong token is none"


@pytest.mark.parametrize("role", [BROKER, BDRS])
def test_with_the_token_every_subject_is_answered(role):
    node = server(role)
    for subject in Subject:
        token = inspect(node, OPERATOR, subject=Subject.STATE)[2].token
        found = inspect(node, OPERATOR, token=token, subject=subject, limit=10)[2]
        assert found.outcome is Outcome.OK
        content = msgpack.unpackb(found.content)
        assert subject in (Subject.FIGURES, Subject.STATE) or content.items() >= {"total": 0, "rows": []}.items()
        if subject is Subject.STATE:
            assert content["name"] == ("b0" if role == BROKER else "bdrs")


def test_a_mobile_broker_without_radio_still_answers_its_operator():
    node = server(BROKER)
    node.fault({"what": "offline"}, True, 500)
    token = inspect(node, OPERATOR, subject=Subject.STATE)[2].token
    found = msgpack.unpackb(inspect(node, OPERATOR, token=token, subject=Subject.STATE)[2].content)
    assert (found["is_mobile"], found["is_offline"]) == (True, True)
    assert found["bulk"] == {"waiting": 0, "omega": 12, "leaves_in_ms": None}


@given(st.binary(max_size=80))
def test_any_bytes_are_a_question_or_none(data):
    found = read_question(data, SUBJECTS)
    assert found is None or question(found) == data
    read_answer(data)


NUMBERS = st.integers(0, 2**32 - 1)


PADDED = st.builds(
    Inspect, NUMBERS, NUMBERS, st.sampled_from(Subject), NUMBERS, NUMBERS, st.integers(0, 1_200), st.just(b"")
)


@given(PADDED)
def test_a_question_is_read_as_it_was_written(sent):
    assert read_question(question(sent), SUBJECTS) == sent
