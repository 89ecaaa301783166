"""How a query is told: its end in a word and a sentence, and its messages as a sequence diagram."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telemetry.charts.sequences import MOST
from telemetry.collect import collect
from telemetry.lake.runs import Lake, RunFiles
from telemetry.systems.context_broker import traffic
from telemetry.systems.context_broker.endings import ENDINGS, ending_of
from telemetry.systems.context_broker.sequence import sequence_of
from telemetry.systems.context_broker.traces import CONSUMER, NOBODY, Query, Step
from tests.telemetry.synthetic import Script, write_run
from tests.telemetry.traced import write_traces


def query(*steps: tuple[int, int, str, int, str]) -> Query:
    return Query("127.0.0.1:40000", 1, "room|r1|climate", [Step(*step) for step in steps])


ASKED = (0, 0, "received", CONSUMER, "")
FORWARDED = (20, 0, "forwarded", 1, "")
REFUSED = [
    ASKED,
    FORWARDED,
    (300, 1, "received", 0, ""),
    (320, 1, "passed back", 0, "202"),
    (600, 0, "refused", 1, "202"),
    (620, 0, "passed back", CONSUMER, "202"),
]
FAR = [
    ASKED,
    FORWARDED,
    (300, 1, "received", 0, ""),
    (320, 1, "found", 0, ""),
    (600, 0, "answered", 1, ""),
    (620, 0, "replied", CONSUMER, ""),
]


@pytest.mark.parametrize(
    ("steps", "most_hops", "truth", "name"),
    [
        ([ASKED, (10, 0, "found", CONSUMER, "")], 40, None, "found_local"),
        (FAR, 40, "fresh", "found_remote"),
        (FAR, 40, "expired", "expired"),
        (REFUSED, 40, None, "dead_end"),
        (REFUSED, 40, "false_not_found", "dead_end"),
        (REFUSED, 1, None, "not_found_ttl"),
        (REFUSED, None, None, "dead_end"),
        (REFUSED, 40, "proved_not_found", "not_found_proved"),
        ([ASKED, (10, 0, "passed back", CONSUMER, "301")], 40, None, "refused"),
        ([ASKED, FORWARDED, (300, 1, "received", 0, ""), (900, 0, "expired", NOBODY, "")], 40, None, "lost"),
        ([ASKED, FORWARDED, (300, 0, "gave up", 1, ""), (900, 0, "expired", NOBODY, "")], 40, None, "broker_gone"),
        ([ASKED, FORWARDED, (900, 0, "expired", NOBODY, "")], 40, None, "broker_gone"),
        ([ASKED], 40, None, "unknown"),
        ([ASKED], 40, "lost", "timed_out"),
    ],
)
def test_an_end_has_a_word_and_a_sentence(
    steps: list[tuple[int, int, str, int, str]], most_hops: int | None, truth: str | None, name: str
) -> None:
    ending = ending_of(query(*steps), most_hops, truth)
    assert ending.name == name
    assert ending.sentence.endswith(".")
    assert ENDINGS[name] is ending


def test_a_query_goes_down_its_lifelines_and_back() -> None:
    drawn = sequence_of(query(*FAR), sent_by_consumer_us=-200, ended_us=800)
    assert drawn.lanes == [None, 0, 1]
    rows = [(one.kind, one.code, one.number, one.sender, one.receiver, one.ms) for one in drawn.messages]
    assert rows == [
        ("request", 3, None, 0, 1, 0.2),
        ("request", 3, 1, 1, 2, 0.28),
        ("answer", 4, None, 2, 1, 0.28),
        ("answer", 4, None, 1, 0, 0.18),
    ]
    assert [(one.sent_at, one.arrived_at) for one in drawn.messages] == [(0, 1), (2, 3), (4, 5), (6, 7)]
    assert [one.passage for one in drawn.messages] == [None, 0, 1, None]
    assert (drawn.steps, drawn.left_out) == (8, 0)


def test_what_one_end_alone_reported_is_drawn_level_and_what_was_lost_is_marked() -> None:
    drawn = sequence_of(query(ASKED, FORWARDED, (900, 0, "expired", NOBODY, "")))
    came, went = drawn.messages
    assert (came.ms, came.sent_ms, came.arrived_ms, came.is_lost) == (None, 0.0, 0.0, False)
    assert (went.ms, went.sent_at == went.arrived_at, went.is_lost) == (None, True, True)


def test_within_one_instant_a_request_comes_before_what_it_causes() -> None:
    """Simulated links may take no time, and a broker reads its clock once for each datagram."""
    at_once = [(0, *step[1:]) for step in FAR]
    drawn = sequence_of(query(*at_once), sent_by_consumer_us=0, ended_us=0)
    assert [(one.sender, one.receiver) for one in drawn.messages] == [(0, 1), (1, 2), (2, 1), (1, 0)]


NAMES = ("received", "forwarded", "found", "answered", "replied", "refused", "passed back", "looks", "looked")
MOMENTS = st.none() | st.integers(-500, 3_000)
STEPS = st.tuples(
    st.integers(0, 2_000),
    st.integers(0, 4),
    st.sampled_from(
        ("received", "forwarded", "found", "answered", "replied", "refused", "passed back", "looks", "looked")
    ),
    st.integers(CONSUMER, 4),
    st.sampled_from(("", "202")),
)


@given(
    st.lists(STEPS, min_size=1, max_size=40), st.none() | st.integers(-500, 3_000), st.none() | st.integers(-500, 3_000)
)
def test_whatever_was_reported_can_be_drawn(
    steps: list[tuple[int, int, str, int, str]], sent: int | None, ended: int | None
) -> None:
    found = query(*sorted(steps))
    drawn = sequence_of(found, sent, ended)
    assert len(drawn.messages) <= MOST
    for one in drawn.messages:
        assert 0 <= one.sender < len(drawn.lanes)
        assert 0 <= one.receiver < len(drawn.lanes)
        assert one.sent_ms <= one.arrived_ms
        assert 0 <= one.sent_at <= one.arrived_at < drawn.steps
    passages = [one.passage for one in drawn.messages if one.passage is not None]
    assert sorted(passages) == list(range(len(found.hops)))
    assert ending_of(found).sentence


def test_links_are_as_thick_as_what_was_traced_over_them(tmp_path: Path) -> None:
    files = write_run(tmp_path / "r1", Script(brokers=4))
    write_traces(files, [0, 1, 2, 3])
    assert traffic.of_run(files) is None
    collect(files, Lake(tmp_path / "lake"))
    found = traffic.of_run(files)
    assert found is not None
    # One there and back along the whole way, one refused by the second, one sent to the last and lost.
    assert found.counts == {(0, 1): 4, (1, 2): 2, (2, 3): 2, (0, 3): 1}
    assert traffic.of_run(RunFiles(tmp_path / "nothing")) is None
