"""Faults on purpose: their documents, and what a driver is told to do when."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.core.errors import InvalidSetting
from overlay.core.links import Link
from overlay.faults.churn import CRASH, LEAVE, UP, Change
from overlay.faults.fault_documents import read
from overlay.faults.faults import BEGAN, ENDED, Course, timeline

BROKERS = 6
RING = tuple(Link(i, (i + 1) % BROKERS, delay_ms=10, loss=0.1) for i in range(BROKERS))
ENDS = [link.ends for link in RING]
DURATION_S = 60.0


def faults(*documents):
    return read(list(documents), BROKERS, ENDS, DURATION_S)


times = st.integers(0, 59).map(float)
some = st.lists(st.integers(0, BROKERS - 1), min_size=1, max_size=3, unique=True)
links = st.just("all") | st.lists(st.sampled_from(ENDS).map(list), min_size=1, max_size=3, unique_by=tuple)
impairments = st.fixed_dictionaries(
    {"delay_ms": st.floats(1, 500)},
    optional={
        "jitter_ms": st.floats(0, 1),
        "loss": st.floats(0, 1),
        "loss_burst_limit": st.integers(0, 4),
        "duplication": st.floats(0, 1),
        "reordering": st.floats(0, 1),
        "reordering_ms": st.floats(0, 100),
        "corruption": st.floats(0, 1),
        "rate_bytes_per_s": st.sampled_from([0, 2e4, 1e6]),
        "queue_bytes": st.integers(65_507, 1 << 20),
        "partition": st.booleans(),
    },
)
islands = st.permutations(range(BROKERS)).map(lambda order: [order[:2], order[2:5]])


@st.composite
def documents(draw):
    directed = draw(st.lists(st.sampled_from([(0, 1), (1, 0), (5, 0)]).map(list), min_size=1, unique_by=tuple))
    own = draw(
        st.sampled_from(
            [
                {"what": "kill", "brokers": draw(some)},
                {"what": "restart", "brokers": draw(some)},
                {"what": "partition", "islands": draw(islands)},
                {"what": "slow", "links": draw(links), "delay_ms": draw(st.floats(0, 500))},
                {"what": "lossy", "links": draw(links), "loss": draw(st.floats(0, 1))},
                {"what": "impaired", "links": draw(links), **draw(impairments)},
                {"what": "lossy", "links": directed, "one_way": True, "loss": 0.5},
            ]
        )
    )
    at_s = draw(times)
    has_end = own["what"] != "restart" and draw(st.booleans())
    return own | {"at_s": at_s} | ({"until_s": at_s + 1} if has_end else {})


@given(st.lists(documents(), max_size=5))
def test_documents_are_read_and_written_back_equal(written):
    found = faults(*written)
    assert faults(*(fault.to_json() for fault in found)) == found
    assert [mark["at_s"] for mark in timeline(found)] == sorted(one["at_s"] for one in written)
    assert all(mark["label"] for mark in timeline(found))


@pytest.mark.parametrize(
    ("document", "field"),
    [
        (3, "faults.0"),
        ({}, "faults.0.what"),
        ({"what": ["kill"]}, "faults.0.what"),
        ({"what": "explode", "at_s": 1}, "faults.0.what"),
        ({"what": "kill", "at_s": 1}, "faults.0.brokers"),
        ({"what": "kill", "brokers": [6], "at_s": 1}, "faults.0.brokers"),
        ({"what": "kill", "brokers": [True], "at_s": 1}, "faults.0.brokers"),
        ({"what": "kill", "brokers": [1, 1], "at_s": 1}, "faults.0.brokers"),
        ({"what": "kill", "brokers": [1], "at_s": 61}, "faults.0.at_s"),
        ({"what": "kill", "brokers": [1], "from_s": 5}, "faults.0.from_s"),  # and not that at_s is missing
        ({"what": "kill", "brokers": [1], "at_s": float("nan")}, "faults.0.at_s"),
        ({"what": "kill", "brokers": [1], "at_s": 10**400}, "faults.0.at_s"),  # no float is so large
        ({"what": "kill", "brokers": [1], "at_s": 5, "until_s": 5}, "faults.0.until_s"),
        ({"what": "kill", "brokers": [1], "at_s": 5, "loss": 1}, "faults.0.loss"),
        ({"what": "restart", "brokers": [1], "at_s": 5, "until_s": 6}, "faults.0.until_s"),
        ({"what": "partition", "islands": [[0, 1]], "at_s": 1}, "faults.0.islands"),
        ({"what": "partition", "islands": [[0, 1], [1, 2]], "at_s": 1}, "faults.0.islands"),
        ({"what": "partition", "islands": [[0, 1], []], "at_s": 1}, "faults.0.islands.1"),
        ({"what": "slow", "links": [[0, 3]], "delay_ms": 1, "at_s": 1}, "faults.0.links.0"),
        ({"what": "slow", "links": "some", "delay_ms": 1, "at_s": 1}, "faults.0.links"),
        ({"what": "slow", "links": "all", "delay_ms": -1, "at_s": 1}, "faults.0.delay_ms"),
        ({"what": "lossy", "links": "all", "loss": 2, "at_s": 1}, "faults.0.loss"),
        ({"what": "lossy", "links": "all", "loss": 10**400, "at_s": 1}, "faults.0.loss"),
        ({"what": "lossy", "links": "all", "loss": 0.1, "duplication": 0.1, "at_s": 1}, "faults.0.duplication"),
        ({"what": "impaired", "links": "all", "at_s": 1}, "faults.0"),
        ({"what": "impaired", "links": "all", "reordering_ms": 9, "queue_bytes": 70_000, "at_s": 1}, "faults.0"),
        ({"what": "impaired", "links": "all", "jitter_ms": 9, "at_s": 1}, "faults.0.jitter_ms"),
        ({"what": "impaired", "links": "all", "loss": 0.9, "loss_burst": 2, "at_s": 1}, "faults.0.loss"),
        ({"what": "impaired", "links": "all", "queue_bytes": 5, "at_s": 1}, "faults.0.queue_bytes"),
        ({"what": "impaired", "links": "all", "partition": 1, "at_s": 1}, "faults.0.partition"),
        ({"what": "impaired", "links": "all", "speed": 1, "at_s": 1}, "faults.0.speed"),
        ({"what": "lossy", "links": "all", "loss": 1, "one_way": True, "at_s": 1}, "faults.0.one_way"),
        ({"what": "lossy", "links": [[0, 1]], "loss": 1, "one_way": "yes", "at_s": 1}, "faults.0.one_way"),
        ({"what": "kill", "brokers": [1], "one_way": True, "at_s": 1}, "faults.0.one_way"),
        ({"what": "lossy", "links": [[3, 0]], "loss": 1, "one_way": True, "at_s": 1}, "faults.0.links.0"),
    ],
)
def test_what_is_wrong_is_named(document, field):
    with pytest.raises(InvalidSetting) as caught:
        faults(document)
    assert caught.value.field == field


NAMES = st.sampled_from(["what", "at_s", "until_s", "brokers", "islands", "links", "delay_ms", "loss", "loss_burst"])
WORDS = st.sampled_from(["kill", "partition", "slow", "impaired", "all"])
leaves = st.none() | st.booleans() | st.floats() | WORDS | st.text()


@given(st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner)))
def test_any_nonsense_gets_a_sentence(nonsense):
    try:
        read(nonsense, BROKERS, ENDS, DURATION_S)
    except InvalidSetting as error:
        assert error.field.startswith("faults")
        assert error.sentence


def test_a_killed_broker_comes_back_when_the_fault_ends():
    course = Course((), faults({"what": "kill", "brokers": [2, 3], "at_s": 5, "until_s": 20}), measuring_s=10)
    assert course.next_s() == 15
    due = course.due(15)
    assert due.changes == [Change(15, 2, CRASH), Change(15, 3, CRASH)]
    assert [(name, detail["label"]) for name, detail in due.events] == [(BEGAN, "brokers 2, 3 killed")]
    assert (course.away, course.next_s()) == ({2, 3}, 30)
    due = course.due(31)
    assert due.changes == [Change(31, 2, UP), Change(31, 3, UP)]
    assert [name for name, _ in due.events] == [ENDED]
    assert (course.away, course.next_s()) == (set(), None)


def test_a_restart_is_a_crash_and_a_return_at_once():
    course = Course((), faults({"what": "restart", "brokers": [4], "at_s": 5}), measuring_s=0)
    assert course.due(5).changes == [Change(5, 4, CRASH), Change(5, 4, UP)]
    assert course.away == set()


def test_a_broker_is_down_while_anything_keeps_it_down():
    churned = (Change(4, 1, LEAVE), Change(8, 1, UP))
    kills = faults(
        {"what": "kill", "brokers": [1], "at_s": 6, "until_s": 10},
        {"what": "kill", "brokers": [1], "at_s": 9, "until_s": 12},
        {"what": "restart", "brokers": [1], "at_s": 11},
    )
    course = Course(churned, kills, measuring_s=0)
    changes = [(at, change.what) for at in range(15) for change in course.due(at).changes]
    assert changes == [(4, LEAVE), (12, UP)]


@given(st.lists(documents(), max_size=6), st.lists(times, max_size=6).map(sorted))
def test_however_seldom_one_looks_the_same_brokers_are_up_in_the_end(written, looks):
    often, seldom = (Course((), faults(*written), measuring_s=0) for _ in range(2))
    up = set(range(BROKERS))
    for at in looks:
        for change in seldom.due(at).changes:
            (up.add if change.what == UP else up.remove)(change.broker)
    for at in range(round(looks[-1]) + 1 if looks else 0):
        often.due(at)
    assert up == set(range(BROKERS)) - seldom.away
    assert seldom.away == often.away
    assert seldom.partitions() == often.partitions()
    assert [seldom.shape(link) for link in RING] == [often.shape(link) for link in RING]


@given(st.lists(documents(), max_size=6))
def test_links_are_as_before_when_all_is_over(written):
    ending = [{**one, "until_s": one["at_s"] + 1} for one in written if one["what"] != "restart"]
    course = Course((), faults(*ending), measuring_s=0)
    course.due(30)
    course.due(DURATION_S)
    for back in (False, True):
        assert [course.shape(link, back=back) for link in RING] == [link.shape() for link in RING]
    assert course.partitions() == []


def test_delays_add_up_and_each_loss_strikes_what_the_others_let_through():
    course = Course(
        (),
        faults(
            {"what": "slow", "links": "all", "delay_ms": 100, "at_s": 1},
            {"what": "slow", "links": [[0, 1]], "delay_ms": 20, "at_s": 1},
            {"what": "lossy", "links": [[0, 1]], "loss": 0.5, "at_s": 1},
        ),
        measuring_s=0,
    )
    assert course.due(1).links_changed
    assert (course.shape(RING[0]).delay_ms, round(course.shape(RING[0]).loss, 9)) == (130, 0.55)
    assert (course.shape(RING[1]).delay_ms, course.shape(RING[1]).loss) == (110, 0.1)


def test_a_fault_one_way_leaves_the_way_back_alone():
    cut = {"what": "impaired", "links": [[1, 0]], "one_way": True, "partition": True, "at_s": 1, "until_s": 2}
    course = Course((), faults(cut), measuring_s=0)
    course.due(1)
    assert (course.shape(RING[0]).partition, course.shape(RING[0], back=True).partition) == (False, True)
    course.due(2)
    assert course.shape(RING[0], back=True) == RING[0].shape()
    assert [mark["label"] for mark in timeline(faults(cut))] == ["1 link one way: cut"]


def test_what_an_impaired_link_does_is_said_beside_its_mark():
    lossy = {"what": "impaired", "links": [[0, 1]], "loss": 0.3, "loss_burst": 4, "rate_bytes_per_s": 20_000, "at_s": 1}
    late = {"what": "impaired", "links": "all", "delay_ms": 5, "jitter_ms": 1, "reordering": 0.25, "at_s": 2}
    cut = {"what": "impaired", "links": [[0, 1], [1, 2]], "partition": True, "at_s": 3}
    assert [mark["label"] for mark in timeline(faults(lossy, late, cut))] == [
        "1 link: 30 % lost in runs of 4, 20 kB/s with a queue of 131.1 kB",
        "all links: +5 ± 1 ms, 25 % held back 50 ms",
        "2 links: cut",
    ]


def test_a_link_that_is_impaired_twice_does_both():
    course = Course(
        (),
        faults(
            {"what": "impaired", "links": "all", "duplication": 0.5, "rate_bytes_per_s": 9_000, "at_s": 1},
            {"what": "impaired", "links": "all", "duplication": 0.5, "rate_bytes_per_s": 4_000, "at_s": 1},
            {"what": "impaired", "links": [[0, 1]], "corruption": 0.1, "partition": True, "at_s": 1},
        ),
        measuring_s=0,
    )
    course.due(1)
    first, second = course.shape(RING[0]), course.shape(RING[1])
    assert (second.duplication, second.rate_bytes_per_s, second.corruption) == (0.75, 4_000, 0)
    assert (second.delay_ms, second.loss, second.partition) == (10, 0.1, False)
    assert (first.corruption, first.partition) == (0.1, True)
