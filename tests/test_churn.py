"""Brokers that go and come back: the schedule, and how it is followed."""

from itertools import pairwise
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.core.errors import InvalidSetting
from overlay.core.settings import describe
from overlay.faults.churn import CRASH, DEPARTURES, LEAVE, UP, Change, Churn, schedule
from overlay.systems.context_broker.workload import Workload

DRAWN = ("exponential", "weibull")
workloads = st.builds(
    Workload,
    churn=st.sampled_from(DRAWN),
    duration_s=st.floats(1, 600),
    session_mean_s=st.floats(2, 600),  # less may be more changes than are allowed
    session_shape=st.floats(0.2, 20),
    downtime_mean_s=st.floats(0.1, 600),
    churn_leave_share=st.floats(0, 1),
    churn_brokers_kept=st.integers(0, 3),
)


def written(text, brokers=10, duration_s=60.0):
    return schedule(Workload(churn="file", churn_schedule=text, duration_s=duration_s), brokers, seed=0)


def sessions(changes, brokers, what):
    """How long each broker stayed (or was away) between two changes of its own, not counting the first stay."""
    found = []
    for broker in range(brokers):
        own = [change for change in changes if change.broker == broker]
        found += [later.at_s - one.at_s for one, later in pairwise(own) if (one.what == UP) == (what == UP)]
    return found


@given(workloads, st.integers(4, 12), st.integers(0, 2**64 - 1))
def test_a_schedule_is_in_order_alternates_and_leaves_those_alone_who_are_kept(workload, brokers, seed):
    changes = schedule(workload, brokers, seed)
    assert changes == schedule(workload, brokers, seed)
    assert list(changes) == sorted(changes, key=lambda change: change.at_s)
    begin = workload.ramp_s()
    assert all(begin <= change.at_s <= begin + workload.duration_s for change in changes)
    assert all(workload.churn_brokers_kept <= change.broker < brokers for change in changes)
    for broker in range(brokers):
        own = [change.what for change in changes if change.broker == broker]
        assert all(what in DEPARTURES for what in own[::2])
        assert all(what == UP for what in own[1::2])


@given(workloads, st.integers(0, 2**32))
def test_a_broker_more_changes_nothing_for_the_others(workload, seed):
    fewer, more = schedule(workload, 8, seed), schedule(workload, 9, seed)
    assert fewer == tuple(change for change in more if change.broker < 8)


@pytest.mark.parametrize("churn", DRAWN)
def test_sessions_and_downtimes_last_as_long_as_was_asked_for(churn):
    workload = Workload(churn=churn, duration_s=36_000, session_mean_s=60, downtime_mean_s=20, churn_brokers_kept=0)
    changes = schedule(workload, 8, seed=5)
    assert fmean(sessions(changes, 8, UP)) == pytest.approx(60, rel=0.1)
    assert fmean(sessions(changes, 8, LEAVE)) == pytest.approx(20, rel=0.1)


def test_a_small_shape_makes_many_short_sessions_and_a_few_long_ones():
    common = {"duration_s": 36_000, "session_mean_s": 60, "churn_brokers_kept": 0}
    exponential = sessions(schedule(Workload(churn="exponential", **common), 8, 1), 8, UP)
    weibull = sessions(schedule(Workload(churn="weibull", session_shape=0.5, **common), 8, 1), 8, UP)

    def shorter_than_5_s(stays):
        return sum(stay < 5 for stay in stays) / len(stays)

    assert shorter_than_5_s(exponential) == pytest.approx(0.08, abs=0.02)  # 1 - exp(-5/60)
    assert shorter_than_5_s(weibull) == pytest.approx(0.335, abs=0.04)  # 1 - exp(-(5/30)^0.5)


@pytest.mark.parametrize("shape", [0.4, 1, 3])
def test_brokers_depart_at_the_mean_rate_from_the_beginning_whatever_the_shape(shape):
    """A first session that began with measuring would end too early (shape below 1) or too late (above)."""
    drawn = {"churn": "weibull", "session_shape": shape, "churn_brokers_kept": 0}
    workload = Workload(duration_s=5, session_mean_s=50, downtime_mean_s=0.1, **drawn)
    departures = [change for change in schedule(workload, 1000, seed=3) if change.what != UP]
    assert len(departures) == pytest.approx(1000 * 5 / 50, rel=0.3)


@pytest.mark.parametrize(("share", "least", "most"), [(0, 0, 0), (1, 1, 1), (0.3, 0.25, 0.35)])
def test_as_many_departures_are_orderly_as_was_asked_for(share, least, most):
    workload = Workload(churn="exponential", churn_leave_share=share, duration_s=20_000)
    departures = [change.what for change in schedule(workload, 10, 1) if change.what != UP]
    assert least <= departures.count(LEAVE) / len(departures) <= most


def test_without_churn_nobody_goes_whatever_else_is_set():
    workload = Workload(churn_schedule="nonsense", session_mean_s=1, churn_brokers_kept=100)
    assert schedule(workload, 1, 0) == ()


def test_a_written_schedule_counts_from_the_beginning_of_measuring():
    begin = Workload().ramp_s()
    changes = written("12.5 3 up; 5 3 crash;\n7 0 leave")
    assert changes == (Change(begin + 5, 3, CRASH), Change(begin + 7, 0, LEAVE), Change(begin + 12.5, 3, UP))


def test_what_is_written_for_one_instant_happens_in_the_order_it_is_written_in():
    assert [change.what for change in written("5 3 crash; 5 3 up; 5 3 leave")] == [CRASH, UP, LEAVE]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        (" ; ; ", "is empty"),
        ("5 3", "“5 3” must be seconds, broker, and one of up, leave, crash"),
        ("5 3 crash now", "must be seconds, broker"),
        ("5 3 explode", "explode must be one of up, leave, crash"),
        ("5 10 crash", "the broker must be a whole number from 0 to 9, not 10"),
        ("5 -1 crash", "the broker must be a whole number from 0 to 9, not -1"),
        ("5 x crash", "the broker must be a whole number from 0 to 9, not x"),
        ("soon 3 crash", "soon is not a number of seconds"),
        ("nan 3 crash", "must be during measuring, from 0 s to less than 60 s"),
        ("60 3 crash", "must be during measuring, from 0 s to less than 60 s"),
        ("-1 3 crash", "must be during measuring"),
        ("5 3 up", "“5 3 up”: broker 3 is not away by then"),
        ("5 3 crash; 9 3 leave", "“9 3 leave”: broker 3 is away already by then"),
        ("1 1 crash; " * 10_001, "has 10001 entries; at most 10000 are allowed"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused_in_words(text, sentence):
    with pytest.raises(InvalidSetting) as refusal:
        written(text)
    assert refusal.value.field == "churn_schedule"
    assert sentence in refusal.value.sentence


@given(st.text(alphabet="0123456789. ;-+euplavcrsh\n\x00٣", max_size=40))
def test_any_text_is_a_schedule_or_refused_by_name(text):
    try:
        changes = written(text)
    except InvalidSetting as refusal:
        assert refusal.field == "churn_schedule"
    else:
        assert changes


def test_churn_that_keeps_everybody_or_never_rests_is_refused_by_name():
    with pytest.raises(InvalidSetting, match="churn_brokers_kept: 3 of 3 brokers are kept, so none can leave"):
        schedule(Workload(churn="exponential", churn_brokers_kept=3), 3, 0)
    with pytest.raises(InvalidSetting, match="session_mean_s: about 157091 departures and returns"):
        schedule(Workload(churn="weibull", duration_s=86_400, session_mean_s=1, downtime_mean_s=0.1), 2, 0)


def test_a_schedule_is_followed_each_change_once():
    churn = Churn(written("5 3 crash; 5 4 leave; 9 3 up"))
    begin = Workload().ramp_s()
    assert churn.due(begin) == []
    assert churn.next_s() == begin + 5
    assert [change.broker for change in churn.due(begin + 5)] == [3, 4]
    assert churn.away == {3, 4}
    assert churn.due(begin + 6) == []
    assert [change.what for change in churn.due(begin + 60)] == [UP]
    assert (churn.away, churn.next_s(), churn.due(begin + 99)) == ({4}, None, [])


def test_the_workload_offers_what_there_is():
    choices = {info.name: info.choices for info in describe(Workload)}["churn"]
    assert set(choices) == {"none", "file", *DRAWN}
