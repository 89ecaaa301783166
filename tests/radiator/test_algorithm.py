"""Algorithm 1 as conversations. Every form gives the same ones."""

from __future__ import annotations

from typing import Any

import pytest

from overlay.systems.radiator.aggregation.algorithm import Algorithm
from overlay.systems.radiator.aggregation.choice import FORMS, make_algorithm
from overlay.systems.radiator.aggregation.classes import Classes
from overlay.systems.radiator.aggregation.options import Options
from overlay.systems.radiator.aggregation.queues import Message
from overlay.systems.radiator.context import Context
from overlay.systems.radiator.language.aggregability import aggregability
from tests.radiator.printed import Sent, sent_of

SECOND = 10**9


class Server:
    """Numbers messages, and has time in seconds."""

    def __init__(self, index: str, text: str, clients: int = 3, shards: int = 1, **options: Any) -> None:
        function = aggregability(text, "{people: 2}")
        self.algorithm: Algorithm = make_algorithm(index, function, Options(**options), shards=shards)
        self.number = 0
        for place in range(clients):
            self.algorithm.register(place, f"c{place}", {}, 0)

    def send(self, sender: int, at: float = 0, c_r: Any = None, person: str = "", **attributes: Any) -> Sent:
        now = round(at * SECOND)
        context = Context((person or f"c{sender}",), 0, 0, attributes)
        message = Message(self.number, context, now)
        self.number += 1
        sent = sent_of(self.algorithm.arrive(message, now, sender, c_r))
        self.algorithm.check_invariants()
        return sent

    def tick(self, at: float) -> Sent:
        sent = sent_of(self.algorithm.handle_timer(round(at * SECOND)))
        self.algorithm.check_invariants()
        return sent

    @property
    def timer(self) -> float | None:
        at = self.algorithm.next_timer()
        return None if at is None else at / SECOND

    def pending(self, place: int) -> list[int]:
        return [message.number for message in self.algorithm.pending(place)]


@pytest.fixture(params=FORMS)
def index(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_two_messages_are_one_propagation_to_everyone(index: str) -> None:
    server = Server(index, "{volume: 2}", echo=True)
    assert server.send(0) == []
    assert server.algorithm.retained == 1
    assert server.send(1) == [((0, 1), (0, 1, 2))]
    assert server.algorithm.retained == 0
    assert server.send(2) == []


def test_without_echo_the_sender_is_one_message_behind(index: str) -> None:
    server = Server(index, "{volume: 2}", echo=False)
    assert server.send(0) == []
    assert server.send(1) == [((0, 1), (2,))]
    assert server.send(1) == [((1, 2), (0,))]
    assert [server.pending(place) for place in range(3)] == [[], [0], [2]]
    assert sorted(size for size, recipients in server.algorithm.sizes() for _ in range(recipients)) == [0, 1, 1]


def test_people_are_counted_once(index: str) -> None:
    server = Server(index, "{people: 2}", clients=1, echo=True)
    assert [server.send(0, person=person) for person in "AAB"] == [[], [], [((0, 1, 2), (0,))]]


def test_different_results_are_different_queues_and_leave_in_the_order_of_recipients(index: str) -> None:
    server = Server(index, "{volume: s.size}", echo=True)
    assert server.send(0, size=2) == []
    assert server.send(0, size=1) == [((1,), (0, 1, 2))]
    assert server.send(0, size=2.5) == [((0, 2), (0, 1, 2))]
    assert server.send(0) == [], "a failure is in the queue of on_error"
    assert server.algorithm.function.errors >= 1


def test_a_threshold_of_time_is_reached_by_an_arrival_or_the_deadline(index: str) -> None:
    server = Server(index, "{time: 30}", clients=2, echo=True)
    assert server.send(0, at=1) == []
    assert server.timer == 31
    assert server.tick(30.9) == []
    assert server.send(0, at=31) == [((0, 1), (0, 1))], "an arrival at the deadline comes first"
    assert server.timer is None
    assert server.send(0, at=40) == []
    assert server.send(0, at=70.5) == [((2,), (0, 1))], "a deadline before an arrival comes first"
    assert server.tick(100.5) == [((3,), (0, 1))]


def test_without_deadlines_a_message_waits_for_another(index: str) -> None:
    server = Server(index, "{time: 30}", clients=1, echo=True, has_deadlines=False)
    assert server.send(0, at=1) == []
    assert server.timer is None
    assert server.send(0, at=500) == [((0, 1), (0,))]


def test_every_queue_leaves_after_the_longest_retention(index: str) -> None:
    server = Server(index, "{volume: s.size}", clients=1, echo=True, has_deadlines=False, retain_max=10 * SECOND)
    server.send(0, at=1, size=5)
    server.send(0, at=2, size=4)
    assert server.timer == 11
    assert server.tick(12) == [((0,), (0,)), ((1,), (0,))], "the queue with the oldest message first"
    assert server.timer is None


def test_a_changed_context_of_the_recipient_is_scanned_at_the_next_arrival(index: str) -> None:
    server = Server(index, "{volume: r.size}", echo=True, has_deadlines=False)
    for place in range(3):
        server.algorithm.change(place, {"size": 4}, 0)
    assert [server.send(0), server.send(0)] == [[], []]
    server.algorithm.change(1, {"size": 1}, 0)
    assert server.timer is None, "without timers"
    assert server.send(0) == [((0,), (1,)), ((1,), (1,)), ((2,), (1,))], "each at its shortest satisfying prefix"
    assert server.send(0) == [((0, 1, 2, 3), (0, 2)), ((3,), (1,))]


def test_with_a_timer_it_is_scanned_at_once(index: str) -> None:
    server = Server(index, "{volume: r.size}", echo=False)
    for place in range(3):
        server.algorithm.change(place, {"size": 4}, 0)
    server.send(0, at=1)
    assert server.send(1, at=2, c_r={"size": 1}) == [], "the sender is not in the loop"
    assert server.timer == 2
    assert server.tick(2) == [((0,), (1,))]
    assert server.timer is None


def test_the_senders_context_counts_for_its_own_message(index: str) -> None:
    server = Server(index, "{volume: r.size}", clients=1, echo=True)
    assert server.send(0) == [], "no size yet: two people"
    assert server.send(0, c_r={"size": 2}) == [((0, 1), (0,))]


def test_a_recipient_that_left_gets_nothing_and_may_come_back_in_its_place(index: str) -> None:
    server = Server(index, "{volume: 2}", echo=True)
    server.send(0)
    _, dropped = server.algorithm.remove(1, 0)
    assert [message.number for message in dropped] == [0]
    server.algorithm.register(1, "c1", {}, 0)
    assert server.send(0) == [((0, 1), (0, 2))]
    assert server.pending(1) == [1]
    assert server.send(0) == [((1, 2), (1,))]
    assert server.algorithm.places == [0, 1, 2]


def test_an_audience_moves_along_the_table_every_hundred_messages(index: str) -> None:
    server = Server(index, "{volume: 1}", clients=5, echo=True, audience=2)
    assert server.send(0) == [((0,), (0, 1))]
    server.number = 199
    assert server.send(0) == [((199,), (2, 3))]
    assert server.send(0) == [((200,), (0, 4))]


def test_bodies_per_recipient_share_no_propagation(index: str) -> None:
    server = Server(index, "{volume: 2}", echo=True, is_per_recipient=True)
    server.send(0)
    assert server.send(0) == [((0, 1), (0,)), ((0, 1), (1,)), ((0, 1), (2,))]


@pytest.mark.parametrize("shards", [1, 2, 3, 7])
def test_shards_send_in_the_order_of_registration(index: str, shards: int) -> None:
    server = Server(index, "{volume: r.size}", clients=6, shards=shards, echo=True)
    for place in range(6):
        server.algorithm.change(place, {"size": 1 + place % 2}, 0)
    assert server.send(0) == [((0,), (0, 2, 4))]
    assert server.send(0) == [((1,), (0, 2, 4)), ((0, 1), (1, 3, 5))]


def test_recipients_with_equal_values_are_one_class() -> None:
    server = Server("classes", "{volume: r.size}", clients=200, echo=True)
    classes = server.algorithm
    assert isinstance(classes, Classes)
    assert classes.classes == 1
    for place in range(200):
        classes.change(place, {"size": 2 + place % 2, "name": place}, 0)
    assert classes.classes == 2
    server.send(0)
    assert classes.evaluations == 2
    classes.change(0, {"size": 3}, 0)
    assert classes.classes == 3, "it has left with a copy of the queues"
    assert [len(places) for _, places in server.send(0)] == [99]
    assert [len(places) for _, places in server.send(0)] == [101]
    assert classes.classes == 2, "without messages, equal classes are one again"


def test_deadlines_of_queues_that_left_do_not_pile_up() -> None:
    server = Server("classes", "{volume: 2}", clients=1, echo=True, retain_max=10**6 * SECOND)
    for second in range(2_000):
        server.send(0, at=second)
    classes = server.algorithm
    assert isinstance(classes, Classes)
    assert len(classes._deadlines._heap) <= 130
