"""Cuts the recipients of a propagation into chains (seed 003, 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_HALF_UP, Decimal
from itertools import islice
from typing import TypeVar

from overlay.core.chance import Chance

LOOK_AHEAD = 64
"""Candidates for the next place in a chain."""
MAX_CHAIN = 65_535
MAX_CHAINS = 65_535

T = TypeVar("T")
Chainability = Callable[[T, T], float | None]
"""How well the second follows the first; ``None`` or at most 0 forbids it."""


def chain_length(percent: float, base: int) -> int:
    """Members of a chain: the share of ``base``, rounded half up, at least 1."""
    share = Decimal(str(percent)) * base / 100
    return max(1, int(share.quantize(Decimal(1), ROUND_HALF_UP)))


def cut(
    members: Sequence[T], length: int, chance: Chance, chainability: Chainability[T] | None = None
) -> list[list[T]]:
    """Chains of ``length`` members in random order; the last one takes the rest."""
    length = min(MAX_CHAIN, max(length, -(-len(members) // MAX_CHAINS)))
    order = chance.sample(members, len(members))
    if chainability is None:
        return [order[at : at + length] for at in range(0, len(order), length)]
    return list(_grown(order, length, chainability))


def _grown(order: list[T], length: int, chainability: Chainability[T]) -> Iterator[list[T]]:
    """Chains that grow by the most chainable of the next candidates, of equal ones the earlier."""
    rest = iter(order)
    window = list(islice(rest, LOOK_AHEAD))
    while window:
        chain = [window.pop(0)]
        window += islice(rest, 1)
        while len(chain) < length and (at := _best(chain[-1], window, chainability)) is not None:
            chain.append(window.pop(at))
            window += islice(rest, 1)
        yield chain


def _best(last: T, window: Sequence[T], chainability: Chainability[T]) -> int | None:
    best, found = 0.0, None
    for at, candidate in enumerate(window):
        value = chainability(last, candidate)
        if value is not None and value > best:
            best, found = value, at
    return found
