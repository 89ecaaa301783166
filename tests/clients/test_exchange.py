"""One exchange: when it asks again, what ends it, and which port may be used again."""

import pytest

from overlay.core.errors import InvalidSetting, WireError
from overlay.core.node import SECOND
from overlay.systems.context_broker.clients import questions
from overlay.systems.context_broker.clients.exchange import Exchange, Retry, Timestamps, WallClock
from overlay.systems.context_broker.wire.codec import encode, parse
from overlay.systems.context_broker.wire.extensions import QuietRequest
from overlay.systems.context_broker.wire.messages import Ack, ContextResponse, Message, Nack, PingResponse

BROKER = ("127.0.0.1", 9000)
ME = ("127.0.0.1", 5000)
ROOM = ("room", "r1", "climate")
WALL_MS = 1_700_000_000_000


class Door:
    """An exchange under a virtual clock that keeps what was sent and when."""

    def __init__(self, question: questions.Question, retry: Retry | None = None) -> None:
        self.now = 0
        self.sent: list[tuple[float, Message]] = []
        wall = WallClock(WALL_MS * 1_000_000)
        self.exchange = Exchange(question, BROKER, 0, Timestamps(wall), retry or Retry())
        self._collect()

    def _collect(self) -> None:
        for data, destination in self.exchange.datagrams_to_send():
            assert destination == BROKER
            self.sent.append((self.now / SECOND, parse(data)))

    def wait(self, seconds: float) -> None:
        """Let time pass, calling the exchange exactly when it asks to be called."""
        until = self.now + round(seconds * SECOND)
        while (timer := self.exchange.next_timer()) is not None and timer <= until:
            self.now = timer
            self.exchange.handle_timer(timer)
            self._collect()
        self.now = until

    def hear(self, message: Message, source: tuple[str, int] = BROKER) -> None:
        self.exchange.receive_datagram(encode(message), source, self.now)

    @property
    def stamps(self) -> list[int]:
        return [message.timestamp for _, message in self.sent]


def response(entity: str = "r1", stamp: int = 5) -> ContextResponse:
    return ContextResponse(stamp, "p", "room", entity, "climate", 1, 2, b"a=1")


def ack(status: int, operation: str = "ContextRequest") -> Ack:
    return Ack(WALL_MS, status, operation, ME)


def test_a_silent_broker_is_asked_again_after_1_2_and_4_seconds_and_given_up_after_10() -> None:
    door = Door(questions.request(ROOM))
    door.wait(60)
    assert [at for at, _ in door.sent] == [0, 1, 2, 4]
    assert door.stamps == [WALL_MS, WALL_MS + 1000, WALL_MS + 2000, WALL_MS + 4000]
    assert (door.exchange.outcome, door.exchange.status, door.exchange.ended_at) == ("timed_out", 0, 10 * SECOND)
    assert door.exchange.next_timer() is None
    assert not door.exchange.is_clean


def test_a_response_and_its_ack_end_a_request_and_leave_the_port_clean() -> None:
    door = Door(questions.request(ROOM))
    door.hear(ack(101))
    assert not door.exchange.outcome
    door.hear(response())
    assert (door.exchange.outcome, door.exchange.status) == ("answered", 102)
    assert not door.exchange.is_over
    door.hear(ack(102))
    assert door.exchange.is_over
    assert door.exchange.is_clean


def test_an_ack_that_overtakes_its_response_does_no_harm() -> None:
    door = Door(questions.request(ROOM))
    door.hear(ack(102))
    assert not door.exchange.outcome
    door.hear(response())
    assert door.exchange.is_clean


def test_a_lost_last_ack_is_not_waited_for_for_ever_and_spoils_the_port() -> None:
    door = Door(questions.request(ROOM))
    door.hear(response())
    door.wait(5)
    assert door.exchange.is_over
    assert not door.exchange.is_clean
    assert len(door.sent) == 1


def test_a_request_that_was_asked_twice_spoils_the_port_even_when_answered() -> None:
    door = Door(questions.request(ROOM))
    door.wait(1.5)
    door.hear(response())
    assert (door.exchange.outcome, door.exchange.attempts) == ("answered", 2)
    assert door.exchange.is_over
    assert not door.exchange.is_clean


def test_a_quiet_request_is_over_with_its_answer() -> None:
    door = Door(questions.request(ROOM, is_quiet=True))
    assert isinstance(door.sent[0][1], QuietRequest)
    door.hear(response(stamp=7))
    assert (door.exchange.outcome, door.exchange.status, door.exchange.reply_stamp) == ("answered", 102, 7)
    assert door.exchange.is_over
    assert door.exchange.is_clean


@pytest.mark.parametrize(("status", "outcome"), [(202, "not_found"), (201, "refused"), (301, "refused")])
def test_a_nack_with_its_timestamp_ends_it(status: int, outcome: str) -> None:
    door = Door(questions.request(ROOM))
    door.hear(Nack(door.stamps[0], status, "ContextRequest", ME))
    assert (door.exchange.outcome, door.exchange.status) == (outcome, status)
    assert door.exchange.is_clean


def test_what_belongs_to_another_changes_nothing() -> None:
    door = Door(questions.request(ROOM))
    door.hear(Nack(door.stamps[0] - 1, 202, "ContextRequest", ME))
    door.hear(response("r2"))
    door.hear(response(), source=("127.0.0.1", 9001))
    door.hear(PingResponse(WALL_MS, BROKER))
    door.exchange.receive_datagram(b"4|\xff", BROKER, 0)
    assert not door.exchange.outcome


@pytest.mark.parametrize(
    ("question", "not_yet", "answer"),
    [
        (
            questions.update("A", "p", ROOM, 1000, b"a=1"),
            ack(101, "ContextUpdateAdvertisement"),
            ack(102, "ContextUpdateAdvertisement"),
        ),
        (questions.join((BROKER,)), ack(101, "BrokerJoining"), ack(102, "BrokerJoining")),
        (questions.leave(), ack(101, "BrokerJoining"), ack(101, "BrokerLeaving")),
        (questions.monitor(), ack(101, "BrokerLeaving"), ack(101, "StartNeighborsMonitoring")),
        (questions.ping(), ack(101), PingResponse(WALL_MS, BROKER)),
    ],
)
def test_each_operation_ends_with_its_own_answer(question: questions.Question, not_yet: Ack, answer: Message) -> None:
    door = Door(question)
    door.hear(not_yet)
    assert not door.exchange.outcome
    door.hear(answer)
    assert (door.exchange.outcome, door.exchange.status) == ("answered", 102)
    assert door.exchange.is_clean


@pytest.mark.parametrize(
    "question",
    [
        questions.request(ROOM),
        questions.request(ROOM, is_quiet=True),
        questions.update("U", "p", ROOM, 1000, b"a=1"),
        questions.join((BROKER, ME)),
        questions.leave(),
        questions.monitor(),
        questions.ping(),
        questions.neighbors(),
        questions.stats(),
    ],
)
def test_a_question_is_stamped_with_each_sending_and_else_the_same(question: questions.Question) -> None:
    door = Door(question)
    door.wait(1)
    first, second = (message for _, message in door.sent)
    assert (first.timestamp, second.timestamp) == (WALL_MS, WALL_MS + 1000)
    assert type(first) is type(second)
    assert question.write(5) == encode(parse(question.write(5)))


@pytest.mark.parametrize("key", [("a|b", "r1", "climate"), ("", "r1", "climate"), ("room", "\ud800", "climate")])
def test_a_key_that_no_message_can_carry_is_refused(key: tuple[str, str, str]) -> None:
    with pytest.raises(WireError):
        questions.request(key)


def test_timestamps_never_repeat_not_even_when_the_clock_steps_back() -> None:
    wall = WallClock(10**18)
    stamps = Timestamps(wall)
    taken = [stamps.next(0), stamps.next(0)]
    wall.offset_ns -= 5 * SECOND
    taken += [stamps.next(1), stamps.next(2)]
    assert taken == [10**12, 10**12 + 1, 10**12 + 2, 10**12 + 3]


def test_a_shorter_deadline_cuts_the_later_attempts() -> None:
    door = Door(questions.ping(), Retry(give_up_s=1.5))
    door.wait(20)
    assert [at for at, _ in door.sent] == [0, 1]
    assert door.exchange.ended_at == 1.5 * SECOND


@pytest.mark.parametrize("values", [{"give_up_s": 0}, {"again_s": (2, 1)}, {"again_s": (0,)}])
def test_impossible_retries_are_refused(values: dict) -> None:
    with pytest.raises(InvalidSetting):
        Retry(**values)
