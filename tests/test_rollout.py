"""From any state of a network to any desired one: the steps end there, one broker at a time, and say what they cut."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.deployment.rollout import (
    BUSY,
    CUT,
    DRAIN,
    FAILED,
    GONE,
    JOIN,
    REPLACE,
    START,
    UP,
    Desired,
    Observed,
    Step,
    due,
    remaining,
    separated,
    waits_for,
)

RING = frozenset({(0, 1), (1, 2), (2, 3), (0, 3)})


def ring(**changes) -> Observed:
    return replace(Observed(dict.fromkeys(range(4), UP), RING, dict.fromkeys(range(4), "old")), **changes)


def want(brokers, links, revision="old") -> Desired:
    return Desired(frozenset(brokers), frozenset(links), dict.fromkeys(brokers, revision))


def taken(step: Step, desired: Desired, seen: Observed) -> Observed:
    """The network after a step that succeeded."""
    states, links, revisions = dict(seen.states), set(seen.links), dict(seen.revisions)
    match step:
        case Step(verb="start", brokers=(broker,)) | Step(verb="replace", brokers=(broker,)):
            states[broker], revisions[broker] = UP, desired.revisions[broker]
        case Step(verb="drain", brokers=(broker,)):
            states[broker] = GONE
            links = {ends for ends in links if broker not in ends}
        case Step(verb="join", brokers=(a, b)):
            links.add((a, b))
        case Step(verb="cut", brokers=(a, b)):
            links.discard((a, b))
    return Observed(states, frozenset(links), revisions)


def reachable_pairs(brokers, seen: Observed) -> set[tuple[int, int]]:
    here = [broker for broker, state in seen.states.items() if state != GONE]
    parts = separated(here, seen.links)
    return {(a, b) for part in parts for a in part for b in part if a < b and {a, b} <= brokers}


def test_a_broker_is_replaced_by_another_one_with_its_links_before_it_goes():
    desired = want({0, 1, 2, 4}, {(0, 1), (1, 2), (0, 4), (2, 4)})
    steps = remaining(desired, ring())
    assert [(step.verb, step.brokers) for step in steps] == [
        (START, (4,)),
        (JOIN, (0, 4)),
        (JOIN, (2, 4)),
        (DRAIN, (3,)),
    ]
    assert not any(step.splits for step in steps)


def test_a_rolling_change_takes_one_at_a_time_and_pauses_at_the_first_that_does_not_come_back():
    desired = want(range(4), RING, "new")
    seen = ring()
    steps = remaining(desired, seen)
    assert [step.brokers for step in due(steps, desired, seen)] == [(0,)]
    seen = ring(states={**seen.states, 0: BUSY}, revisions={**seen.revisions, 0: "new"})
    assert waits_for(remaining(desired, seen), desired, seen) == 0
    failed = replace(seen, states={**seen.states, 0: FAILED})
    assert due(remaining(desired, failed), desired, failed) == []
    assert waits_for(remaining(desired, failed), desired, failed) == 0
    back = want(range(4), RING, "old")
    assert due(remaining(back, failed), back, failed) == [Step(REPLACE, (0,))], "rolling back mends what is down"
    unsettled = replace(seen, states=dict.fromkeys(range(4), UP), is_settled=False)
    assert waits_for(remaining(desired, unsettled), desired, unsettled) == -1


def test_the_last_link_between_two_parts_is_cut_with_a_word():
    line = ring(links=frozenset({(0, 1), (1, 2), (2, 3)}))
    assert remaining(want(range(4), {(0, 1), (2, 3)}), line) == [Step(CUT, (1, 2), splits=True)]
    assert remaining(want({0, 2, 3}, {(2, 3)}), line) == [Step(DRAIN, (1,), splits=True)]
    assert separated(range(4), {(0, 1), (2, 3)}) == [[0, 1], [2, 3]]


def test_a_broker_that_has_failed_can_be_drained_and_the_others_wait_for_one_that_should_run():
    seen = ring(states={0: UP, 1: FAILED, 2: UP, 3: UP})
    without = want({0, 2, 3}, {(2, 3), (0, 3)})
    assert due(remaining(without, seen), without, seen) == [Step(DRAIN, (1,))]
    other = want({0, 1, 2}, {(0, 1), (1, 2)})
    assert due(remaining(other, seen), other, seen) == []
    assert waits_for(remaining(other, seen), other, seen) == 1


BROKERS = range(6)
links = st.frozensets(st.sampled_from([(a, b) for a in BROKERS for b in BROKERS if a < b]), max_size=9)


@st.composite
def networks(draw: st.DrawFn) -> tuple[Desired, Observed]:
    states = draw(st.dictionaries(st.sampled_from(BROKERS), st.sampled_from([UP, UP, UP, FAILED, GONE])))
    here = {broker for broker, state in states.items() if state != GONE}
    joined = frozenset(ends for ends in draw(links) if here.issuperset(ends))
    revisions = {broker: draw(st.sampled_from(["old", "new"])) for broker in here}
    brokers = draw(st.frozensets(st.sampled_from(BROKERS)))
    wanted_links = frozenset(ends for ends in draw(links) if brokers.issuperset(ends))
    return Desired(brokers, wanted_links, dict.fromkeys(brokers, "new")), Observed(states, joined, revisions)


@given(networks(), st.randoms(use_true_random=False))
def test_from_any_state_the_steps_end_at_the_desired_one(network, chance):
    desired, seen = network
    for _ in range(100):
        steps = remaining(desired, seen)
        begun = due(steps, desired, seen)
        if not begun:
            break
        step = chance.choice(begun)
        down = [broker for broker in desired.brokers if seen.state(broker) in (BUSY, FAILED)]
        if step.verb == REPLACE:
            assert set(down) <= set(step.brokers)
        elif step.verb in (CUT, DRAIN):
            assert not down
        after = taken(step, desired, seen)
        lost = reachable_pairs(desired.brokers, seen) - reachable_pairs(desired.brokers, after)
        assert step.splits or not lost or step.verb in (START, JOIN)
        seen = after
    else:
        pytest.fail("it does not end")
    failed = [broker for broker in desired.brokers if seen.state(broker) == FAILED]
    if steps:
        assert failed and waits_for(steps, desired, seen) in failed
        return
    assert {broker for broker, state in seen.states.items() if state != GONE} == desired.brokers
    assert seen.links == desired.links
    assert all(seen.revisions[broker] == "new" for broker in desired.brokers)
