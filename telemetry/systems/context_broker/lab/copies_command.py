"""``python -m telemetry copies``: the distribution of copies under each replication strategy, in virtual time."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from telemetry.systems.context_broker.lab.copies import STRATEGIES, Scene, shapes_of


def add_flags(command: argparse.ArgumentParser) -> None:
    command.add_argument("--brokers", type=int, default=Scene.brokers)
    command.add_argument("--entities", type=int, default=Scene.entities)
    command.add_argument("--queries-per-s", type=float, default=Scene.queries_per_s, help="for all entities together")
    command.add_argument("--seeds", type=int, default=5, help="each with its own graph, providers and consumers")


def table(given: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of the table as they are computed."""
    scene = Scene(brokers=given.brokers, entities=given.entities, queries_per_s=given.queries_per_s)
    yield (
        f"{scene.brokers} brokers, random-regular of degree {scene.degree}; {scene.entities} entities, the k-th "
        f"requested in proportion to 1/k; {scene.queries_per_s:g} queries/s in all; virtual time; {given.seeds} seeds"
    )
    yield f"{'replication':<18}{'all copies':>18}{'replicas alone':>18}{'copies':>9}{'of the most popular':>20}"
    for name, settings in STRATEGIES.items():
        found = shapes_of(settings, scene, range(given.seeds))
        shapes = "".join(
            f"{f'{shape.exponent:.2f} ± {shape.error:.2f}' if shape else '–':>18}"
            for shape in (found.all, found.replicas)
        )
        yield f"{name:<18}{shapes}{sum(found.copies):>9.0f}{found.copies[0]:>20.1f}"
    yield "Exponents: 0.50 for the square root, 1.00 for copies in proportion to queries, 0.00 for equal copies."
