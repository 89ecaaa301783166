"""What a reader is told of events: sentences in people's words."""

import re
from dataclasses import fields

import pytest

from overlay.core.node import NodeEvent
from overlay.systems.context_broker.broker import events as broker_events
from overlay.systems.registry import SYSTEMS
from overlay.systems.roles import ClientRole
from telemetry.live.event_words import EventWords, together
from telemetry.summary.processes import Servers
from telemetry.systems.registry import telemetry_of
from tests.systems.echo import Echo

NAMES = {f"127.0.0.1:{4000 + index}": index for index in range(12)}
TELEMETRY = telemetry_of({})
WORDS = EventWords(TELEMETRY, Servers(TELEMETRY.system), NAMES)
KINDS = [kind for kind in vars(broker_events).values() if isinstance(kind, type) and issubclass(kind, NodeEvent)]


def event(t_s, name, process="supervisor", **detail):
    return {"t_s": t_s, "process": process, "name": name, "detail": detail}


def ended(t_s, process, reason="exit 0"):
    return event(t_s, "process_ended", process=process, pid=100, reason=reason, was="waiting")


def told(*events):
    return [row["words"] for row in WORDS.happened(events)]


def ended_by(process, reason):
    return {
        "t_s": 1.0,
        "process": "supervisor",
        "name": "process_ended",
        "detail": {"process": process, "reason": reason},
    }


@pytest.mark.parametrize(
    ("happens", "words"),
    [
        (ended_by("broker-3", "killed by SIGKILL"), "broker 3 was killed by SIGKILL"),
        (
            ended_by("broker-3", "exit 1: cannot bind 127.0.0.1:1"),
            "broker 3 ended with exit 1: cannot bind 127.0.0.1:1",
        ),
        (ended_by("consumers-0", "exit 0"), "the generator of consumers ended"),
        (event(1, "NeighbourLost", "broker-5", neighbour="127.0.0.1:4006"), "broker 5 lost its neighbour broker 6"),
        (
            event(1, "NeighbourReturned", "broker-5", neighbour="127.0.0.1:4006"),
            "broker 5 has its neighbour broker 6 back",
        ),
        (event(1, "NeighbourLost", "broker-5", neighbour="10.0.0.9:1"), "broker 5 lost its neighbour 10.0.0.9:1"),
        (
            event(1, "NeighbourJoined", "broker-5", neighbour="127.0.0.1:4006"),
            "broker 5 is now a neighbour of broker 6",
        ),
        (event(1, "NeighboursFound", "broker-5", count=4), "broker 5 found enough neighbours"),
        (event(1, "NeighboursAwaited", "broker-5", count=0), "broker 5 waits for more neighbours"),
        (event(1, "LimitReached", "broker-0", limit="favours"), "broker 0 reached the limit of its pings for others"),
        (event(1, "churn_left", broker=2), "broker 2 left gracefully (churn)"),
        (event(1, "churn_crashed", broker=2), "broker 2 crashed (churn)"),
        (event(1, "churn_returned", broker=2), "broker 2 returned (churn)"),
        (event(1, "fault_injected", broker=2, kind="kill"), "kill of broker 2 ordered"),
        (event(1, "LimitReached", "broker-0", limit="table"), "broker 0 reached the limit of its data table"),
        (
            event(1, "LimitReached", "broker-0", limit="pending share"),
            "broker 0 reached the limit of its share of the pending requests for one sender",
        ),
        (event(1, "phase", phase="measuring", reason=""), "measuring began"),
        (event(1, "phase", phase="failed", reason="lease expired"), "failed: lease expired"),
        (event(1, "SomethingNew", "broker-1"), "broker 1: something new"),
    ],
)
def test_an_event_is_a_sentence(happens, words):
    assert told(happens) == [words]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_event_of_a_broker_is_told_by_the_name_of_its_class(kind):
    values = {field.name: "127.0.0.1:4006" if field.name == "neighbour" else "table" for field in fields(kind)}
    (words,) = told(event(1, kind.__name__, "broker-1", **values))
    assert not re.search(r"[a-z][A-Z]|_|broker-|[{}]", words)


def test_ten_brokers_that_leave_are_one_sentence():
    leaving = [event(8 + index / 100, "NetworkLeft", f"broker-{index}") for index in range(10)]
    assert told(*leaving) == ["10 brokers left"]


def test_brokers_and_load_generators_are_told_apart():
    assert told(
        ended(7.0, "consumers-0"), ended(7.1, "broker-0"), ended(7.2, "providers-0"), ended(7.3, "broker-1")
    ) == [
        "2 load generators ended",
        "brokers 0 and 1 ended",
    ]


def test_a_broker_that_dies_is_told_of_once_however_many_lose_it():
    events = [
        ended(5.1, "broker-6", "killed by SIGKILL"),
        event(5.6, "process_started", process="broker-6", pid=2, after="killed by SIGKILL"),
        event(8.0, "NeighbourLost", "broker-7", neighbour="127.0.0.1:4006"),
        event(8.4, "NeighbourLost", "broker-5", neighbour="127.0.0.1:4006"),
    ]
    assert told(*events) == [
        "broker 6 was killed by SIGKILL",
        "broker 6 restarted",
        "brokers 5 and 7 lost broker 6",
    ]


def test_what_happens_seconds_apart_is_told_apart():
    killed = [ended(t_s, f"broker-{t_s}", "killed by SIGKILL") for t_s in (1, 5)]
    assert told(*killed) == ["broker 1 was killed by SIGKILL", "broker 5 was killed by SIGKILL"]


@pytest.mark.parametrize(
    ("processes", "words"),
    [
        (["broker-3", "broker-3"], "broker 3"),
        (["broker-10", "broker-9"], "brokers 9 and 10"),
        (["broker-3", "broker-1", "broker-2"], "brokers 1, 2 and 3"),
        ([f"broker-{index}" for index in range(10)], "10 brokers"),
        (["consumers-0", "providers-0"], "2 load generators"),
        (["consumers-1"], "generator 2 of consumers"),
        (["consumers-0", "broker-0"], "2 processes"),
    ],
)
def test_processes_are_named_until_they_are_many(processes, words):
    assert together(processes, SYSTEMS["context-broker"]) == words


def test_load_generators_have_the_names_that_their_system_declares():
    class Hubs(Echo):
        client_roles = {"hub": ClientRole("mobile-hub")}

    assert [together(some, Hubs()) for some in (["mobile-hub-1"], ["mobile-hub-0", "mobile-hub-1"], ["other-0"])] == [
        *("generator 2 of mobile-hub", "2 load generators", "other-0"),
    ]


def test_routine_is_not_marked():
    assert not WORDS.is_marked("process_ended", {"reason": "exit 0"})
    assert not WORDS.is_marked("process_started", {"after": ""})
    assert not WORDS.is_marked("NeighbourJoined", {"neighbour": "127.0.0.1:4001"})
