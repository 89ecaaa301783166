"""What must fit together before a run or a network starts. Pure."""

from __future__ import annotations

from overlay.core.errors import InvalidSetting
from overlay.systems.contract import Setup
from overlay.systems.silbops.tree import tree_of

MOST_NAMED = 8
"""Brokers that an error names."""


def check_setup(setup: Setup) -> None:
    """That the tree reaches all brokers. Raises ``InvalidSetting``."""
    brokers = setup.graph.brokers
    tree = tree_of(brokers, (link.ends for link in setup.graph.links))
    if len(tree) < brokers - 1:
        reached = {0, *(child for _, child in tree)}
        beyond = [str(broker) for broker in range(brokers) if broker not in reached]
        named = ", ".join(beyond[:MOST_NAMED]) + (", …" if len(beyond) > MOST_NAMED else "")
        raise InvalidSetting("topology", f"no path joins broker 0 to {named}")
