"""The settings of the PoA manager (contract, section 8)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from overlay.core.errors import InvalidSetting
from overlay.core.settings import InvalidText, check, json_list, setting
from overlay.systems.contextnet.poa.ranks import RANKS

MOST_SPREAD_S: Final = 5
"""Of the pings of a round; at most half of the period."""
LEAST_WINDOW_MS: Final = 10
LISTS_READ: Final = 10
"""A reader that starts skips all lists of gateways but so many, and those that were written as they changed."""
_MOST_FACTOR: Final = 100


class Rescale(NamedTuple):
    """Up to a ping rate of ``rate``, the window is multiplied by ``factor``."""

    rate: float
    factor: float


@lru_cache(maxsize=8)
def rescale_of(text: str) -> tuple[Rescale, ...]:
    """The steps of ``rescale``. Raises ``InvalidText``."""
    steps = [_step(found) for found in json_list(text)]
    rates = [step.rate for step in steps]
    if not rates or rates != sorted(set(rates)) or rates[-1] != 1:
        raise InvalidText(0, "must be pairs with rising ping rates, of which the last is 1")
    return tuple(steps)


def _step(found: object) -> Rescale:
    if not isinstance(found, list) or len(found) != 2 or not all(type(value) in (int, float) for value in found):
        raise InvalidText(0, f"must be pairs of ping rate and factor, not {json.dumps(found)[:60]}")
    rate, factor = map(float, found)
    if not 0 <= rate <= 1 or not 0 < factor <= _MOST_FACTOR:
        raise InvalidText(0, f"a ping rate is 0 to 1, and a factor above 0 and at most {_MOST_FACTOR}")
    return Rescale(rate, factor)


@dataclass(frozen=True)
class PoaSettings:
    """How gateways ping, how they are ranked, and how nodes are moved between them."""

    ping_period_s: int = setting(
        20, unit="s", low=1, high=3_600, help="From one ping of a node to the next. A short one finds absence sooner."
    )
    ping_window_ms: int = setting(
        2_000, unit="ms", low=10, high=60_000, help="How long after its ping a pong counts, at first."
    )
    window_min_ms: int = setting(250, unit="ms", low=10, high=60_000, help="Least window of pongs.")
    window_max_ms: int = setting(20_000, unit="ms", low=10, high=60_000, help="Greatest window of pongs.")
    rescale_enabled: bool = setting(True, unit="", help="Whether the window of pongs follows the ping rate.")
    rescale: str = setting(
        "[[0.5, 2.0], [0.8, 1.5], [0.98, 1.0], [1.0, 0.9]]",
        help="Up to which ping rate the window of pongs is multiplied by which factor: pairs with rising rates.",
        most=1_000,
        language=rescale_of,
    )
    round_s: int = setting(10, unit="s", low=1, high=600, help="From one round of balancing to the next.")
    missed_reports: int = setting(
        3, unit="reports", low=1, high=100, help="Missing load reports after which a gateway is not active."
    )
    rank: str = setting(
        "capacity",
        choices=tuple(RANKS),
        help=(
            "How gateways are scored. headroom: by what is free; latency: by answers to pings; capacity: by "
            "connections per load."
        ),
    )
    balancing: bool = setting(True, unit="", help="Whether nodes are asked to move to gateways with less load.")
    smoothing: float = setting(
        0.2, unit="", low=0.01, high=1, help="Weight of a new score against the former ones; 1: only the new one."
    )
    band: float = setting(
        0.15, unit="share", low=0, high=1, help="Excess of nodes over the ideal number that starts moves."
    )
    persistence: int = setting(
        3, unit="rounds", low=1, high=20, help="Rounds that the excess lasts before nodes are moved."
    )
    budget: float = setting(
        0.05, unit="share", low=0, high=1, help="Greatest share of all nodes that a round moves; at least one node."
    )
    hold_s: int = setting(300, unit="s", low=0, high=86_400, help="How long a node that was moved is left alone.")
    list_s: int = setting(
        60,
        unit="s",
        low=1,
        high=3_600,
        help="Greatest age of the list of gateways, which is written again then, and at once when it changes.",
    )

    def __post_init__(self) -> None:
        check(self)
        if self.window_min_ms > self.window_max_ms:
            raise InvalidSetting("window_min_ms", f"is more than window_max_ms, {self.window_max_ms} ms")

    @property
    def list_age_s(self) -> int:
        """Older lists of gateways are not read."""
        return LISTS_READ * self.list_s

    @property
    def most_window_ms(self) -> int:
        """So that a round ends before the next begins."""
        spread_ms = min(self.ping_period_s * 500, MOST_SPREAD_S * 1_000)
        return min(self.window_max_ms, self.ping_period_s * 1_000 - spread_ms)
