"""Response times over a run, what is stored, and what nodes do after the death of their gateway."""

from hypothesis import given
from hypothesis import strategies as st

from overlay.journal.facts import Connection, HandOver
from overlay.systems.contextnet.measuring.trend import mann_kendall
from overlay.systems.contextnet.rows import Absence, Stayed, row
from tests.contextnet.test_figures import BEGIN, S, event, figures, id_of, sample


def test_response_times_that_grow_with_the_order_of_messages_drift():
    growing = figures(*(sample(at, rtt_ms=10 + at, order=at) for at in range(10)))
    assert (growing["rtt_drift_ms"], growing["rtt_trend_p"] < 0.001) == (10, True)
    steady = figures(*(sample(at, rtt_ms=10 + at % 2, order=at) for at in range(10)))
    assert steady["rtt_trend_p"] > 0.3
    assert figures(sample(1))["rtt_trend_p"] is None


@given(st.lists(st.integers(0, 10_000), min_size=12, max_size=40, unique=True))
def test_the_probability_is_that_of_kendall(values):
    from scipy.stats import kendalltau  # a second that only the process of this test takes

    expected = kendalltau(range(len(values)), values, method="asymptotic").pvalue
    assert abs(mann_kendall([float(one) for one in values]) - expected) < 0.1, "of the normal distribution, both"


def test_messages_due_in_an_outage_and_the_longest_stay_of_one_that_was_sent():
    off = row(0, Absence(1, BEGIN + 10 * S, BEGIN + 40 * S))
    found = figures(
        off,
        sample(1, node=1, at=BEGIN + 15 * S),
        sample(2, node=1, at=BEGIN + 40 * S),
        sample(3, node=2, at=BEGIN + 15 * S),
        row(0, Stayed(id_of(1).hex(), 1, BEGIN + 16 * S, BEGIN + 42 * S, "sent")),
        row(0, Stayed(id_of(2).hex(), 1, BEGIN + 41 * S, BEGIN + 99 * S, "expired")),
    )
    assert (found["due_while_off"], found["stored_longest_s"]) == (1, 27)


def connection(node, server, opened_s, ended_s):
    at = BEGIN + opened_s * S
    return Connection("node", node, server, "measuring", "lost", at, at, BEGIN + ended_s * S, "reset")


def test_nodes_of_a_dead_gateway_are_back_after_the_median_of_their_times():
    dies = event(BEGIN + 100 * S, "fault_began", what="kill", servers=["gateway-1"])
    others = connection(9, 0, 1, 150), connection(9, 0, 151, 200)
    back = [one for node in (1, 2, 3) for one in (connection(node, 1, 1, 130), connection(node, 0, 110 * node, 700))]
    assert figures(dies, *others, *back)["reopened_s"] == 120
    assert figures(dies, *others)["reopened_s"] is None


def test_the_least_time_between_two_moves_of_one_node():
    def move(node, at_s):
        return HandOver("node", node, 0, 1, "measuring", "done", BEGIN + at_s * S, BEGIN + at_s * S + 5, -1)

    assert figures(move(1, 10), move(2, 11), move(1, 40), move(2, 300))["moves_apart_s"] == 30
    assert figures(move(1, 10), move(2, 11))["moves_apart_s"] is None
