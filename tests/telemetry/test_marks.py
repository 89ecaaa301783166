"""What the time charts of a run mark: every phase and fault, and brokers that go and come, however many they are."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.faults.churn import CRASHED
from overlay.journal.facts import Event
from telemetry.live.event_words import EventWords
from telemetry.live.marks import FAULT, MEMBERSHIP, MOST, PHASE, Marks
from telemetry.summary.processes import Servers
from telemetry.systems.registry import telemetry_of

NAMES = {f"127.0.0.1:{4000 + index}": index for index in range(12)}
TELEMETRY = telemetry_of({})
WORDS = EventWords(TELEMETRY, Servers(TELEMETRY.system), NAMES)
CHURN = ("churn_left", "churn_crashed", "churn_returned")


def event(t_s: float, name: str, told_by: str = "supervisor", **detail: Any) -> Event:
    return Event(told_by, round(t_s * 1e6), name, detail)


def began(t_s: float, label: str, **detail: Any) -> Event:
    return event(t_s, "fault_began", label=label, **detail)


def over(t_s: float, label: str, **detail: Any) -> Event:
    return event(t_s, "fault_ended", label=label, **detail)


def shown(*events: Event, now_s: float = 100.0) -> list[dict[str, Any]]:
    marks = Marks(WORDS)
    for one in events:
        marks.take(one)
    return marks.shown(now_s)


def labels(*events: Event) -> list[str]:
    return [mark["label"] for mark in shown(*events)]


def test_a_fault_lasts_from_its_beginning_to_its_end_and_one_without_an_end_until_now() -> None:
    partition, slow, kill, restart = (
        {"what": "partition"},
        {"what": "slow"},
        {"what": "kill", "brokers": [3]},
        {"what": "restart", "brokers": [4]},
    )
    assert shown(
        began(5, "partition into 2 islands", **partition),
        began(6, "all links +5 ms", **slow),
        over(8, "partition into 2 islands", **partition),
        began(9, "broker 3 killed", **kill),
        began(10, "broker 4 restarted", **restart),
        over(11, "all links +5 ms", **slow),
        now_s=20,
    ) == [
        {"at_s": 5, "until_s": 8, "label": "partition into 2 islands", "kind": FAULT},
        {"at_s": 6, "until_s": 11, "label": "all links +5 ms", "kind": FAULT},
        {"at_s": 9, "until_s": 20, "label": "broker 3 killed", "kind": FAULT},
        {"at_s": 10, "until_s": None, "label": "broker 4 restarted", "kind": FAULT},
    ]


def test_a_broker_that_dies_is_marked_once_and_once_when_it_is_back_however_many_say_so() -> None:
    events = [
        event(0.1, "process_started", process="broker-6", pid=1, after=""),
        event(1.0, "phase", phase="measuring", reason=""),
        event(5.0, "fault_injected", broker=6, kind="kill"),
        event(5.1, "process_ended", process="broker-6", reason="killed by SIGKILL"),
        event(5.6, "process_started", process="broker-6", pid=2, after="killed by SIGKILL"),
        event(8.0, "NeighbourLost", "broker-7", neighbour="127.0.0.1:4006"),
        event(9.4, "NeighbourLost", "broker-5", neighbour="127.0.0.1:4006"),
        event(12.0, "NeighbourReturned", "broker-5", neighbour="127.0.0.1:4006"),
        event(13.5, "NeighbourReturned", "broker-7", neighbour="127.0.0.1:4006"),
        event(20.0, "phase", phase="draining", reason=""),
        event(20.4, "process_ended", process="broker-6", reason="exit 0"),
    ]
    assert [(mark["label"], mark["kind"]) for mark in shown(*events)] == [
        ("measuring", PHASE),
        ("broker 6 down", MEMBERSHIP),
        ("broker 6 back", MEMBERSHIP),
        ("broker 6 lost", MEMBERSHIP),
        ("broker 6 back", MEMBERSHIP),
        ("draining", PHASE),
    ]


def test_brokers_that_go_by_churn_together_are_one_mark() -> None:
    assert labels(
        event(5.9, "churn_crashed", broker=6),
        event(6.1, "churn_crashed", broker=2),
        event(6.1, "process_ended", process="broker-6", reason=CRASHED),
        event(6.2, "process_ended", process="broker-2", reason=CRASHED),
        event(7.0, "churn_left", broker=3),
        event(9.0, "churn_returned", broker=3),
        event(9.0, "process_started", process="broker-3", pid=2, after=""),
    ) == ["brokers 2 and 6 away", "broker 3 away", "broker 3 back"]


def test_what_happens_seconds_apart_is_told_apart() -> None:
    killed = [event(t, "process_ended", process=f"broker-{t}", reason="killed by SIGKILL") for t in (1, 5)]
    assert labels(*killed) == ["broker 1 down", "broker 5 down"]


def test_routine_is_not_marked() -> None:
    leaving = [event(8 + index / 100, "NetworkLeft", f"broker-{index}") for index in range(10)]
    assert labels(*leaving, event(9, "NeighbourJoined", "broker-1", neighbour="127.0.0.1:4001")) == []


def test_of_churn_without_end_neighbouring_marks_become_one_that_says_how_many_there_were() -> None:
    churn = [event(3 * t, CHURN[1 + t % 2], broker=t % 5) for t in range(1_000)]
    marks = shown(*churn, began(7, "all links +5 ms", what="slow"), event(1, "phase", phase="measuring"))
    away = [mark for mark in marks if mark["label"].endswith("times") and "away" in mark["label"]]
    assert len(marks) <= MOST + 2
    assert away[0]["label"].startswith("5 brokers away, ")
    assert sum(int(mark["label"].split(", ")[1].removesuffix(" times")) for mark in away) == 500
    assert {"all links +5 ms", "measuring"} < {mark["label"] for mark in marks}


@settings(max_examples=50)
@given(
    st.lists(
        st.builds(
            lambda t_s, name, broker: event(t_s, name, broker=broker),
            st.floats(0, 4_000),
            st.sampled_from(CHURN),
            st.integers(0, 11),
        ),
        max_size=400,
    )
)
def test_however_much_happens_marks_are_few_and_cover_all_of_it(events: list[Event]) -> None:
    events.sort(key=lambda one: one.at_us)
    marks = shown(*events, now_s=4_000)
    assert len(marks) <= MOST
    assert [mark["at_s"] for mark in marks] == sorted(mark["at_s"] for mark in marks)
    for one in events:
        at_s, away_or_back = one.at_us / 1e6, "back" if one.name == "churn_returned" else "away"
        near = [m for m in marks if m["at_s"] <= at_s <= max(m["at_s"] + 1, m["until_s"] or 0)]
        assert any(away_or_back in mark["label"] for mark in near)
