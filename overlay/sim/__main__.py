"""``python -m overlay.sim copies``: where copies come to lie under each replication strategy, in virtual time."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from overlay.sim.copies import STRATEGIES, Scene, shapes_of


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m overlay.sim", allow_abbrev=False)
    commands = top.add_subparsers(dest="command", required=True)
    copies = commands.add_parser("copies", help="the exponent of copies over the rate of queries, by strategy")
    copies.add_argument("--brokers", type=int, default=Scene.brokers)
    copies.add_argument("--entities", type=int, default=Scene.entities)
    copies.add_argument("--queries-per-s", type=float, default=Scene.queries_per_s, help="of all entities together")
    copies.add_argument("--seeds", type=int, default=5, help="each another graph, other providers, other consumers")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    given = parser().parse_args(arguments)
    scene = Scene(brokers=given.brokers, entities=given.entities, queries_per_s=given.queries_per_s)
    print(
        f"{scene.brokers} brokers, random-regular of degree {scene.degree}; {scene.entities} entities, the k-th asked "
        f"for in proportion to 1/k; {scene.queries_per_s:g} queries/s in all; virtual time; {given.seeds} seeds"
    )
    print(f"{'replication':<18}{'all copies':>18}{'replicas alone':>18}{'copies':>9}{'of the most wanted':>20}")
    for name, settings in STRATEGIES.items():
        found = shapes_of(settings, scene, range(given.seeds))
        shapes = "".join(
            f"{f'{shape.exponent:.2f} ± {shape.error:.2f}' if shape else '–':>18}"
            for shape in (found.all, found.replicas)
        )
        print(f"{name:<18}{shapes}{sum(found.copies):>9.0f}{found.copies[0]:>20.1f}")
    print("The square root is 0.50; copies in proportion to queries 1.00; alike for all 0.00.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
