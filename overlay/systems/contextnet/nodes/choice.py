"""The order in which a node tries gateways."""

from __future__ import annotations

from collections.abc import Iterable
from math import log

from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.systems.contextnet.transport.controls import Gateway

_LEAST_WEIGHT = 0.01
"""Of a gateway with weight 0, which is tried last, most likely."""


def weighted_order(gateways: Iterable[Gateway], chance: Chance) -> tuple[Address, ...]:
    """All of them, each in front of another one with the probability of its weight, lest all nodes storm the best."""
    drawn = [(log(1 - chance.random()) / max(one.weight, _LEAST_WEIGHT), one.address) for one in gateways]
    return tuple(address for _, address in sorted(drawn, reverse=True))
