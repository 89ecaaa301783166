"""The federation's hot paths in this process: what a broker does for each notification, without sockets.

- a FORWARD read, checked, and written for the next broker, next to MessagePack alone, and with ContextML
- matching a notification, by the number of subscriptions: 12 scopes and 1,000 entities, each subscription with one of
  either and a comparison, and the same without the entity
- a subscription entered in the table and told to a neighbour
- an epoch of the registration service: the tree computed again after one link went down, and the message for all; and
  all brokers as messages for one that is new
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, cycle
from random import Random

import msgpack

from benchmarks.figures import RATIO, Figure, figure
from benchmarks.radiator.timing import Work, in_turn, repeated
from overlay.systems.federation.bdrs.epochs import Epochs
from overlay.systems.federation.bdrs.forest import edges_of, links_of
from overlay.systems.federation.contextml.encoding import CONTEXTML
from overlay.systems.federation.covering.kept import Kept
from overlay.systems.federation.covering.merged import Merged
from overlay.systems.federation.language.tree import And, Predicate
from overlay.systems.federation.matching.index import Index
from overlay.systems.federation.tables.tables import Routing, Tables
from overlay.systems.federation.wire.codec import CODEC, Codec
from overlay.systems.federation.wire.messages import Forward
from overlay.systems.federation.wire.values import (
    BrokerAdvertisement,
    Candidate,
    Notification,
    NotificationId,
    Subscription,
    SubscriptionId,
)

TITLE = "Federation: hot paths of a broker"
SIZES = (1_000, 100_000)
GOAL_US = 5.0
"""Of matching at the largest size, by entity."""
SCOPES, ENTITIES = 12, 1_000
NOTIFICATIONS = 5_000
CALLS = 2_000
PAYLOAD_BYTES = 400
BROKERS = (255, 1_000)
LINKS = 2
"""For each broker; each end names them."""
EPOCHS = 10
make = partial(figure, "federation")


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    say("a notification read and written")
    yield from _messages(rounds)
    say(f"matching, at up to {max(SIZES):,} subscriptions")
    for size in SIZES:
        yield from _matching(size, rounds)
    say("tables")
    yield from _tables(rounds)
    say(f"epochs of up to {max(BROKERS):,} brokers")
    for brokers in BROKERS:
        yield from _epochs(brokers, rounds)


def _messages(rounds: int) -> Iterator[Figure]:
    note = Notification(NotificationId("p3", 1), "room", "r17", "climate", 1_000, 2_000, {"v": "x" * PAYLOAD_BYTES})

    def through(codec: Codec) -> Work:
        data = codec.encode(Forward(note, 2))
        return repeated(lambda: codec.encode(Forward(codec.parse(data).notification, 3)), CALLS)  # type: ignore[union-attr]

    data = CODEC.encode(Forward(note, 2))
    least = repeated(lambda: msgpack.packb(msgpack.unpackb(data)), CALLS)
    costs = in_turn({"ours": through(CODEC), "least": least, "xml": through(CONTEXTML)}, rounds)
    what = f"FORWARD of {PAYLOAD_BYTES} bytes read and written"
    yield make(what, "µs", costs["ours"], "lower")
    yield make(f"{what}: MessagePack alone", "µs", costs["least"], "lower")
    ratios = [one / other for one, other in zip(costs["ours"], costs["least"], strict=True)]
    yield make(f"{what} / MessagePack alone", RATIO, ratios, "lower")
    yield make(f"{what}, with ContextML", "µs", costs["xml"], "lower")


def _matching(size: int, rounds: int) -> Iterator[Figure]:
    chance = Random(size)
    notes = [
        Notification(NotificationId("p", i), "room", _entity(chance), _scope(chance), 1, 2, {"degC": _degrees(chance)})
        for i in range(NOTIFICATIONS)
    ]

    def matched(has_entity: bool, notes: list[Notification]) -> Work:
        index = Index[str]()
        for i in range(size):
            index.add(_subscription(i, chance, has_entity), f"b{i % 4}")

        def match() -> int:
            for note in notes:
                index.match(note)
            return len(notes)

        return match

    # Without the entity, a notification satisfies a twenty-fourth of all, which is mostly the cost of listing them.
    costs = in_turn({"entity": matched(True, notes), "scope": matched(False, notes[: len(notes) // 20])}, rounds)
    goal = GOAL_US if size == max(SIZES) else None
    yield make(f"match, {size:,} subscriptions by scope and entity", "µs", costs["entity"], "lower", at_most=goal)
    yield make(f"match, {size:,} subscriptions by scope", "µs", costs["scope"], "lower")


def _tables(rounds: int) -> Iterator[Figure]:
    chance, numbers = Random(1), count()

    def told(covering: Callable[[], Kept | Merged] | None) -> Work:
        tables = Tables(Routing.FLOODING, covering=covering)
        tables.connect("b1")

        def tell() -> None:
            tables.subscribe("c0", [_subscription(next(numbers), chance, True)])
            tables.subscription_changes()

        return repeated(tell, CALLS)

    unions = (SubscriptionId("b0", number) for number in count())
    merging = partial(Merged, unions.__next__)
    costs = in_turn({"plain": told(None), "covering": told(Kept), "merging": told(merging)}, rounds)
    yield make("subscription entered and told to a neighbour", "µs", costs["plain"], "lower")
    yield make("subscription entered and told to a neighbour, with covering", "µs", costs["covering"], "lower")
    yield make("subscription entered and told to a neighbour, with merging", "µs", costs["merging"], "lower")


def _epochs(brokers: int, rounds: int) -> Iterator[Figure]:
    states = cycle([_network(brokers, has_all=False), _network(brokers, has_all=True)])
    epochs, numbers = Epochs(), count(1)

    def publish() -> None:
        live = next(states)
        changed = [one for id, one in live.items() if one != epochs.brokers.get(id)]
        epochs.publish(next(numbers), changed, (), edges_of(links_of(live), "tree"))

    def change() -> None:
        publish()
        for message in epochs.since(epochs.epoch - 1):
            CODEC.encode(message)

    def whole() -> None:
        for message in epochs.whole():
            CODEC.encode(message)

    publish()
    costs = in_turn({"change": repeated(change, EPOCHS), "whole": repeated(whole, EPOCHS)}, rounds)
    yield make(f"a new epoch of {brokers:,} brokers: tree and message", "µs", costs["change"], "lower")
    yield make(f"{brokers:,} brokers as messages", "µs", costs["whole"], "lower")


def _network(brokers: int, *, has_all: bool) -> dict[str, BrokerAdvertisement]:
    """With or without one of its links."""
    chance, near = Random(brokers), {number: list[Candidate]() for number in range(brokers)}
    for number in range(1, brokers):
        for other in {chance.randrange(number) for _ in range(LINKS)}:
            delay, is_up = chance.randrange(1_000, 20_000), has_all or number > 1
            near[number].append(Candidate(f"b{other}", delay, is_up))
            near[other].append(Candidate(f"b{number}", delay, is_up))
    return {
        f"b{number}": BrokerAdvertisement(
            f"b{number}", f"10.0.{number >> 8}.{number & 255}:7000", candidates=tuple(ends)
        )
        for number, ends in near.items()
    }


def _subscription(number: int, chance: Random, has_entity: bool) -> Subscription:
    parts = [Predicate("degC", ">", (_degrees(chance),))]
    if has_entity:
        parts.insert(0, Predicate("entity.id", "=", (_entity(chance),)))
    return Subscription(SubscriptionId("c0", number), (_scope(chance),), 10**13, And(tuple(parts)))


def _scope(chance: Random) -> str:
    return f"s{chance.randrange(SCOPES)}"


def _entity(chance: Random) -> str:
    return f"r{chance.randrange(ENTITIES)}"


def _degrees(chance: Random) -> float:
    return chance.uniform(15, 35)
