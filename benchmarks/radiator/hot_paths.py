"""Hot paths of the server in this process, each next to the least Python that does the same (``least``).

- a message accepted: inflated, parsed, checked, entered in table and ledger, answered
- Algorithm 1 for one arrival, in its three forms, and by the number of recipients
- the aggregability function, next to the same function in Python
- an aggregate of 20 messages: joined, written as JSON, compressed
- pushes and acknowledgements without sockets, by the number of recipients
- a chain formed: permuted, written, compressed, with its MAC
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count

from benchmarks.figures import Figure
from benchmarks.radiator import least
from benchmarks.radiator.samples import bodies, contexts, people
from benchmarks.radiator.standing import Datagram, Standing
from benchmarks.radiator.timing import Work, compared, in_turn, make, once, repeated
from overlay.systems.radiator.aggregation.algorithm import Algorithm
from overlay.systems.radiator.aggregation.choice import make_algorithm
from overlay.systems.radiator.aggregation.options import Options
from overlay.systems.radiator.aggregation.queues import Message
from overlay.systems.radiator.chains.forming import Former
from overlay.systems.radiator.chains.propagation import Outcome, Propagation
from overlay.systems.radiator.clients.table import Entry
from overlay.systems.radiator.context import Context
from overlay.systems.radiator.language.aggregability import aggregability
from overlay.systems.radiator.language.aggregates import Aggregation
from overlay.systems.radiator.load.population import client_id
from overlay.systems.radiator.settings import Settings
from overlay.systems.radiator.wire.compression import CODECS, deflate

SIZES = ((200, 50), (1_000, 200))
QUICK_SIZES = ((200, 50), (1_000, 50))
"""Recipients, and messages retained for each. Filling the literal form takes their product, squared in the second."""
MANY = 60_000
GROWTH = (200, 6_000, MANY)
RECIPIENTS = (200, 2_000, 20_000)
PUSHES = 2_000
CHAIN = 6_000
JOINED = 20
ARRIVALS = {"literal": 3, "indexed": 20, "classes": 500}
CALLS = 20_000
FULL_ROUNDS = 4
NEVER = 10_000_000
SERVER = ("127.0.0.1", 7_000)


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    say("hot paths of the server, next to minimal Python")
    yield from _accepted(rounds)
    yield from _arrivals(rounds)
    yield from _functions(rounds)
    yield from _aggregates(rounds)
    yield from _pushes(rounds)
    yield from _chains(rounds)


def _accepted(rounds: int) -> Iterator[Figure]:
    server, bare = Standing(200, aggregability=f"{{volume: {NEVER}}}"), least.Accepting()
    ours = iter(server.contexts(500 * (rounds + 1)))
    theirs = [data for data, _ in server.contexts(500)]

    def accept() -> int:
        for _ in range(500):
            server.receive(next(ours))
        return 500

    def accept_barely() -> int:
        for data in theirs:
            bare.accept(data)
        return len(theirs)

    yield from compared("a message accepted", accept, accept_barely, rounds)


# --- Algorithm 1 ------------------------------------------------------------------------------------------------------


def _algorithm(index: str, recipients: int, volume: int = NEVER, *, echo: bool = True) -> Algorithm:
    options = Options(echo=echo, has_deadlines=False)
    algorithm = make_algorithm(index, aggregability(f"{{volume: {volume}}}"), options)
    for place in range(recipients):
        algorithm.register(place, client_id(place), {}, 0)
    return algorithm


class _Arriving:
    """Messages that arrive one after another, the first of them before anything is measured."""

    def __init__(self, algorithm: Algorithm, retained: int, *, has_senders: bool = False) -> None:
        self._algorithm, self._numbers = algorithm, count()
        self._contexts, self._has_senders = contexts(100), has_senders
        for _ in range(retained):
            self.arrive()

    def arrive(self) -> None:
        number = next(self._numbers)
        message = Message(number, self._contexts[number % len(self._contexts)], number)
        sender = number * 7_919 % len(self._algorithm.places) if self._has_senders else None
        self._algorithm.arrive(message, number, sender)


def _arrivals(rounds: int) -> Iterator[Figure]:
    for recipients, retained in SIZES if rounds >= FULL_ROUNDS else QUICK_SIZES:
        works = {
            index: repeated(_Arriving(_algorithm(index, recipients), retained).arrive, times)
            for index, times in ARRIVALS.items()
        }
        for index, costs in in_turn(works, rounds).items():
            what = f"an arrival, {recipients:,} recipients, {retained} retained: {index}"
            yield make(what, "ms", [us / 1e3 for us in costs], "lower")
    queue: list[Context] = []
    works = {
        f"{recipients:,} recipients": repeated(_Arriving(_algorithm("classes", recipients, 20), 0).arrive, 2_000)
        for recipients in GROWTH
    }
    works["Python, bare"] = repeated(partial(least.retain, queue, contexts(1)[0], 20), 2_000)
    for name, costs in in_turn(works, rounds).items():
        at_most = 0.005 if name.startswith(f"{MANY:,}") else None
        yield make(
            f"an arrival, 20 an aggregate, classes: {name}", "ms", [us / 1e3 for us in costs], "lower", at_most=at_most
        )
    others = _Arriving(_algorithm("classes", MANY, 20, echo=False), 0, has_senders=True)
    costs = in_turn({"": repeated(others.arrive, 100)}, rounds)[""]
    what = f"an arrival, 20 an aggregate, classes: {MANY:,} recipients, the sender left out"
    yield make(what, "ms", [us / 1e3 for us in costs], "lower")


# --- functions and aggregates -----------------------------------------------------------------------------------------


def _functions(rounds: int) -> Iterator[Figure]:
    message, recipient = contexts(1)[0], dict(people().attributes(7))
    s, names, id = message.attributes, message.people, client_id(7)
    for what, text, native in (
        ("constant", "{volume: 20}", least.constant),
        ("distance", "{volume: distance_km(s.location, r.location)}", least.distance),
    ):
        evaluate = aggregability(text).evaluate
        assert evaluate(s, names, recipient, id) == native(s, recipient)
        yield from compared(
            f"aggregability, {what}",
            repeated(partial(evaluate, s, names, recipient, id), CALLS),
            repeated(partial(native, s, recipient), CALLS),
            rounds,
            at_most=1.0,
        )


def _aggregates(rounds: int) -> Iterator[Figure]:
    joined, raw = contexts(JOINED), [json.loads(body) for body in bodies(JOINED)]
    aggregation = Aggregation("join")

    def ours(codec: int) -> bytes:
        return deflate(aggregation.body(joined, {}, ""), codec)

    def bare(codec: str) -> bytes:
        return least.compress(least.dump(least.join(raw)), codec)

    for number, codec in enumerate(CODECS):
        assert ours(number) == bare(codec)
        yield from compared(
            f"an aggregate of {JOINED}, {codec}",
            repeated(partial(ours, number), 50),
            repeated(partial(bare, codec), 50),
            rounds,
        )


# --- propagation ------------------------------------------------------------------------------------------------------


class _Pushing:
    """Some messages are pushed to all recipients, then acknowledged by all."""

    def __init__(self, recipients: int, rounds: int) -> None:
        self._server, self._recipients = Standing(recipients), recipients
        self._messages = max(1, PUSHES // recipients)
        self._datagrams = iter(self._server.contexts(self._messages * rounds))
        self._pushed: list[Sequence[Datagram]] = []

    def push(self) -> int:
        self._pushed = [self._server.receive(next(self._datagrams)) for _ in range(self._messages)]
        return self._messages * self._recipients

    def acknowledging(self) -> Work:
        batches = [self._server.acknowledgements(pushed) for pushed in self._pushed]
        return lambda: sum(map(self._server.receive_all, batches))


def _pushes(rounds: int) -> Iterator[Figure]:
    for recipients in RECIPIENTS if rounds >= FULL_ROUNDS else RECIPIENTS[:2]:
        pushing = _Pushing(recipients, rounds + 1)
        pushed, acknowledged = [], []
        for _ in range(rounds + 1):
            pushed.append(once(pushing.push))
            acknowledged.append(once(pushing.acknowledging()))
        for name, costs in (("pushed", pushed[1:]), ("acknowledged", acknowledged[1:])):
            yield make(f"a push {name}, without sockets, {recipients:,} recipients", "µs/push", costs, "lower")


def _chains(rounds: int) -> Iterator[Figure]:
    settings = Settings(chain_percent=100.0)
    entries = [Entry((SERVER[0], client_id(i)), i, (SERVER[0], 1_024 + i), {}, True, 0, i, 0) for i in range(CHAIN)]
    members = [(SERVER[0], 1_024 + i, client_id(i)) for i in range(CHAIN)]
    key, body, chance = bytes(16), bodies(1)[0], random.Random(1)
    former = Former(settings, SERVER, 1, key, chance, None)

    def form() -> int:
        outcomes = {entry.key: Outcome.IN_FLIGHT for entry in entries}
        former.form(Propagation(1, (0,), body, outcomes), entries, CHAIN)
        return 1

    def form_barely() -> int:
        least.chain(members, SERVER, body, key)
        return 1

    yield from compared(f"a chain of {CHAIN:,} formed", form, form_barely, rounds)
