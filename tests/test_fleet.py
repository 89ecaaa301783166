"""The restart policy, told as histories: what happened, and what the plan says next."""

from hypothesis import given
from hypothesis import strategies as st

from overlay.core.node import MILLISECOND, SECOND
from overlay.deployment.fleet import (
    BACK_OFF,
    GIVEN_UP,
    KILLED,
    RESTART_WINDOW,
    RESTARTS,
    START_TIMEOUT,
    STOP_GRACE,
    STOPPING,
    UP,
    WAITING,
    GiveUp,
    Kill,
    Lifetime,
    Process,
    Start,
    Stop,
    Wait,
    plan,
)

ALWAYS = {"b": Lifetime.ALWAYS}
ONCE = {"b": Lifetime.ONCE}


def running(now=0):
    return Process().started(now).ready(now)


def test_what_is_wanted_and_never_ran_is_started():
    assert plan(ALWAYS, {}, 0) == [Start("b")]


def test_what_runs_and_is_wanted_is_left_alone():
    assert plan(ALWAYS, {"b": running()}, SECOND) == []


def test_a_process_that_died_is_started_again_after_the_back_off():
    died = running().ended(SECOND, "killed by SIGKILL")
    assert plan(ALWAYS, {"b": died}, SECOND) == [Wait("b", SECOND + BACK_OFF)]
    assert plan(ALWAYS, {"b": died}, SECOND + BACK_OFF) == [Start("b")]


def test_a_process_that_failed_to_start_is_given_up_on_at_once_with_its_own_reason():
    failed = Process().started(0).ended(SECOND, "exit 1: cannot bind 127.0.0.1:80")
    assert plan(ALWAYS, {"b": failed}, SECOND) == [GiveUp("b", "exit 1: cannot bind 127.0.0.1:80")]


def test_a_process_that_was_up_once_may_fail_to_start_again():
    again = running().ended(SECOND, "killed by SIGKILL").started(2 * SECOND).ended(2 * SECOND, "exit 1: port in use")
    assert plan(ALWAYS, {"b": again}, 3 * SECOND) == [Start("b")]


def test_one_that_slowly_fails_to_start_again_and_again_is_given_up_on():
    process = running().ended(SECOND, "killed by SIGKILL")
    for attempt in range(RESTARTS):
        now = (attempt + 1) * RESTART_WINDOW
        assert plan(ALWAYS, {"b": process}, now) == [Start("b")]
        process = process.started(now).ended(now + SECOND, "exit 1: port in use")
    (action,) = plan(ALWAYS, {"b": process}, 10 * RESTART_WINDOW)
    assert action == GiveUp("b", "did not come up 5 times in a row, the last time it ended by: exit 1: port in use")


def test_the_sixth_death_within_ten_seconds_is_the_last():
    process, now, starts = Process(), 0, 0
    while (action := plan(ALWAYS, {"b": process}, now)[0]) == Start("b"):
        process = process.started(now).ready(now).ended(now, "killed by SIGKILL")
        now, starts = now + SECOND, starts + 1
    assert starts == 1 + RESTARTS
    assert action == GiveUp("b", "restarted 5 times within 10 s, the last time it ended by: killed by SIGKILL")


def test_deaths_far_enough_apart_go_on_for_ever():
    process, now = Process(), 0
    for _ in range(100):
        assert plan(ALWAYS, {"b": process}, now) == [Start("b")]
        process = process.started(now).ready(now).ended(now, "exit 1")
        now += RESTART_WINDOW // RESTARTS + MILLISECOND


def test_a_process_that_is_not_ready_in_time_is_killed_and_says_so():
    starting = Process().started(0)
    assert plan(ALWAYS, {"b": starting}, START_TIMEOUT - 1) == [Wait("b", START_TIMEOUT)]
    [kill] = plan(ALWAYS, {"b": starting}, START_TIMEOUT)
    assert kill == Kill("b", "not ready within 20 s")
    ended = starting.kill_sent(START_TIMEOUT, kill.reason).ended(START_TIMEOUT, "killed by SIGKILL")
    assert plan(ALWAYS, {"b": ended}, START_TIMEOUT) == [GiveUp("b", "not ready within 20 s")]


def test_what_is_no_longer_wanted_gets_sigterm_and_then_sigkill():
    assert plan({}, {"b": running()}, 0) == [Stop("b")]
    stopping = running().stop_sent(0)
    assert plan({}, {"b": stopping}, STOP_GRACE - 1) == [Wait("b", STOP_GRACE)]
    assert plan({}, {"b": stopping}, STOP_GRACE) == [Kill("b", "did not end within 3 s of SIGTERM")]
    assert plan({}, {"b": stopping.kill_sent(STOP_GRACE)}, 9 * SECOND) == []


def test_what_is_wanted_again_while_it_stops_is_first_let_end():
    stopping = running().stop_sent(0)
    assert plan(ALWAYS, {"b": stopping}, 0) == [Wait("b", STOP_GRACE)]
    assert plan(ALWAYS, {"b": stopping.ended(0, "exit 0")}, SECOND) == [Start("b")]


def test_what_was_sent_away_is_started_again_at_once_and_however_often():
    process = running()
    for second in range(1, 20 * RESTARTS):
        now = second * SECOND // 10
        process = process.sent_away().kill_sent(now, "crashed by churn").ended(now, "killed by SIGKILL")
        assert process.reason == "crashed by churn"
        assert plan({}, {"b": process}, now) == []
        assert plan(ALWAYS, {"b": process}, now) == [Start("b")]
        process = process.started(now).ready(now)
    assert process.restarts == ()
    died = process.ended(now, "killed by SIGKILL")
    assert plan(ALWAYS, {"b": died}, now) == [Wait("b", now + BACK_OFF)]
    assert died.started(now + BACK_OFF).restarts == (now + BACK_OFF,)


def test_what_is_to_come_back_while_it_still_leaves_is_first_let_end():
    leaving = running().sent_away().stop_sent(0)
    assert plan(ALWAYS, {"b": leaving}, 0) == [Wait("b", STOP_GRACE)]
    assert plan(ALWAYS, {"b": leaving.ended(1, "exit 0")}, 1) == [Start("b")]


def test_what_runs_once_is_done_when_it_ended_well_and_failed_when_not():
    assert plan(ONCE, {"b": running().ended(SECOND, "exit 0", well=True)}, SECOND) == []
    assert plan(ONCE, {"b": running().ended(SECOND, "exit 3")}, SECOND) == [GiveUp("b", "exit 3")]


def test_what_was_given_up_stays_so():
    given_up = running().ended(0, "exit 1").gave_up(0, "exit 1")
    assert plan(ALWAYS, {"b": given_up}, 99 * SECOND) == []
    assert plan({}, {"b": given_up}, 99 * SECOND) == []


EVENTS = st.lists(
    st.tuples(st.sampled_from(["ready", "die", "end well", "nothing", "want", "unwant"]), st.integers(0, 12 * SECOND)),
    max_size=60,
)


@given(EVENTS, st.sampled_from(list(Lifetime)))
def test_any_history_is_answered_by_legal_moves_and_within_the_limits(history, lifetime):
    """Whatever happens when: every action is legal where it is ordered, and no burst of starts beats the limit."""
    desired, process, now, starts = {"b": lifetime}, Process(), 0, []
    for event, pause in history:
        now += pause
        if event == "want":
            desired = {"b": lifetime}
        elif event == "unwant":
            desired = {}
        elif event == "ready" and process.lives:
            process = process.ready(now) if process.state != UP else process
        elif event in ("die", "end well") and process.lives:
            process = process.ended(now, event, well=event == "end well")
        for action in plan(desired, {"b": process} if process.launches else {}, now):
            match action:
                case Start():
                    starts.append(now)
                    process = process.started(now)
                case Stop():
                    process = process.stop_sent(now)
                case Kill(_, reason):
                    process = process.kill_sent(now, reason)
                case GiveUp(_, reason):
                    assert reason
                    process = process.gave_up(now, reason)
                case Wait(_, until):
                    assert until > now
        assert process.state in (WAITING, UP, STOPPING, KILLED, GIVEN_UP, "starting")
        if not desired:
            assert process.state not in (UP, "starting")
    for first, last in zip(starts, starts[RESTARTS + 1 :], strict=False):
        assert last - first >= RESTART_WINDOW or last - starts[starts.index(first) + 1] >= RESTART_WINDOW


def test_restarts_by_order_are_no_deaths_however_often_and_bring_back_what_was_given_up():
    process = running()
    for second in range(1, 4 * RESTARTS):
        now = second * SECOND // 2
        process = process.restart_asked(now, "restarted by olga").ended(now, "exit 0", well=True)
        assert process.reason == "restarted by olga"
        assert plan(ALWAYS, {"b": process}, now + BACK_OFF) == [Start("b")]
        process = process.started(now + BACK_OFF).ready(now + BACK_OFF)
    frozen = process.restart_asked(now, "restarted by olga").kill_sent(now + STOP_GRACE, "did not end within 3 s")
    assert frozen.ended(now, "killed by SIGKILL").reason == "restarted by olga; did not end within 3 s"
    given_up = process.ended(now, "exit 1").gave_up(now, "restarted 5 times")
    assert plan(ALWAYS, {"b": given_up.restart_asked(now, "restarted by olga")}, now + BACK_OFF) == [Start("b")]
