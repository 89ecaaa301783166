"""Where copies come to lie under each replication strategy, in virtual time: does any reach the square root?

A hundred brokers, each entity provided at one of them, queries at random brokers for the k-th entity in proportion to
1/k. Replicas end with the value that they were made of, and providers go on updating, so that the number of copies goes
up and down around a mean, which is what is looked at. ``docs/results/replication.md`` tells what came of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from overlay.core.chance import Stream, derive_seed
from overlay.core.node import SECOND
from overlay.core.settings import build
from overlay.load.popularity import ZIPF, Popularity
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.clients import questions
from overlay.systems.context_broker.clients.questions import Question
from overlay.systems.context_broker.holdings import Shape, fit_shape
from overlay.systems.context_broker.wire.messages import Key
from overlay.systems.context_broker.workload import entity_name
from overlay.topologies import generate
from telemetry.systems.context_broker.lab.overlay import Overlay

STRATEGIES: dict[str, Mapping[str, str | int]] = {
    "random, 1": {"replication": "random", "replication_index": 1},
    "random, 3": {"replication": "random", "replication_index": 3},
    "path": {"replication": "path"},
    "requester": {"replication": "requester"},
    "path, refreshed": {"replication": "path", "replica_refresh": True},
}
"""What is compared, by name: settings of the brokers."""
WALKS = {"walk_policy": "avoid"}
"""How all of them walk, as in ``docs/results/replication.md``."""


@dataclass(frozen=True)
class Scene:
    """The network and what is asked of it."""

    brokers: int = 100
    degree: int = 4
    entities: int = 50
    queries_per_s: float = 0.5
    update_s: int = 30
    valid_s: int = 120
    settled_s: int = 240
    """How long copies are let come to their number."""
    measured_s: int = 240
    every_s: int = 20
    """Between the instants at which copies are counted."""

    def rates(self) -> list[float]:
        """Queries per second for each entity, the most wanted first."""
        weights = [1 / k for k in range(1, self.entities + 1)]
        return [self.queries_per_s * weight / sum(weights) for weight in weights]


@dataclass(frozen=True, slots=True)
class Found:
    """What one strategy led to."""

    copies: list[float]
    """Of each entity, the most wanted first; its provider's included."""
    all: Shape | None
    replicas: Shape | None
    """Of the replicas alone: where there are few, the one copy that every entity has flattens the other."""


def steady_copies(settings: Mapping[str, str | int], scene: Scene, seed: int) -> list[float]:
    """Copies of each entity, its provider's included: the mean over the instants counted."""
    graph = generate("random-regular", scene.brokers, {"degree": scene.degree, "delay_ms": 1}, seed=seed)
    overlay = Overlay(graph, build(BrokerConfig, {**WALKS, **settings}), seed, monitoring=False)
    overlay.start()
    end_s = scene.settled_s + scene.measured_s
    _provide(overlay, scene, seed, end_s)
    _ask(overlay, scene, seed, end_s)
    begin, counted = overlay.simulator.now, Counter[Key]()
    instants = range(scene.settled_s, end_s, scene.every_s)
    for instant in instants:
        overlay.run_for(begin + instant * SECOND - overlay.simulator.now)
        for index in overlay.brokers:
            counted.update(overlay.broker(index).held_keys(overlay.simulator.now).keys())
    return [counted[entity_name(entity)] / len(instants) for entity in range(scene.entities)]


def shapes_of(settings: Mapping[str, str | int], scene: Scene, seeds: Sequence[int]) -> Found:
    """The slopes of copies over queries, copies being the mean over ``seeds``."""
    drawn = [steady_copies(settings, scene, seed) for seed in seeds]
    copies = [sum(values) / len(drawn) for values in zip(*drawn, strict=True)]
    rates = scene.rates()
    return Found(
        copies,
        fit_shape(zip(rates, copies, strict=True)),
        fit_shape((rate, many - 1) for rate, many in zip(rates, copies, strict=True)),
    )


def _provide(overlay: Overlay, scene: Scene, seed: int, end_s: int) -> None:
    """Each entity's provider updates it at one broker, for the whole time."""
    chance, now = Stream(derive_seed(seed, "providers")), overlay.simulator.now
    for entity in range(scene.entities):
        broker, first = chance.randrange(scene.brokers), chance.randrange(SECOND)
        update = questions.update("U", "p", entity_name(entity), scene.valid_s * 1000, b"v")
        for second in range(0, end_s, scene.update_s):
            _ask_at(overlay, now + first + second * SECOND, broker, update)


def _ask(overlay: Overlay, scene: Scene, seed: int, end_s: int) -> None:
    """Queries at random brokers, evenly spread over the whole time."""
    chance, now = Stream(derive_seed(seed, "consumers")), overlay.simulator.now
    popularity = Popularity(scene.entities, ZIPF)
    for number in range(int(scene.queries_per_s * end_s)):
        at = now + 2 * SECOND + int((number + chance.random()) / scene.queries_per_s * SECOND)
        broker, request = chance.randrange(scene.brokers), questions.request(entity_name(popularity.draw(chance)))
        _ask_at(overlay, at, broker, request)


def _ask_at(overlay: Overlay, time: int, broker: int, question: Question) -> None:
    def ask() -> None:
        overlay.ask(broker, question)

    overlay.at(time, ask)
