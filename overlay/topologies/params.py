"""The parameters of each kind of topology. Counterpart: ``generators`` has the registry and the functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from overlay.core.links import LINK_SETTINGS, LinkShape
from overlay.core.settings import check as check_settings
from overlay.core.settings import setting

MORE = tuple(info.name for info in LINK_SETTINGS[3:])
"""Link settings other than delay, jitter and loss."""


def _as_of_a_link(name: str) -> Any:
    """The link setting with this name."""
    info = next(info for info in LINK_SETTINGS if info.name == name)
    return setting(info.default, unit=info.unit, low=info.low, high=info.high, help=info.help)


@dataclass(frozen=True)
class NoParams:
    """A single broker has no parameters."""


@dataclass(frozen=True)
class Params:
    """The link parameters of every kind. Both directions of a link are equal."""

    delay_ms: float = setting(
        0.0, unit="ms", low=0, high=60_000, help="Minimum one-way delay of a link; 0 adds no delay."
    )
    delay_spread_ms: float = setting(
        0.0, unit="ms", low=0, high=60_000, help="Each link's delay is up to this much above the minimum."
    )
    delay_by: str = setting(
        "chance",
        choices=("chance", "distance"),
        help="How delays are spread: drawn for each link, or growing with the distance in the drawing.",
    )
    jitter_ms: float = setting(
        0.0,
        unit="ms",
        low=0,
        high=60_000,
        help="Each datagram's delay varies by up to this much; at most the minimum delay.",
    )
    loss: float = setting(0.0, unit="fraction", low=0, high=1, help="Share of datagrams lost on each link.")
    loss_burst: float = _as_of_a_link("loss_burst")
    loss_burst_limit: int = _as_of_a_link("loss_burst_limit")
    duplication: float = _as_of_a_link("duplication")
    reordering: float = _as_of_a_link("reordering")
    reordering_ms: float = _as_of_a_link("reordering_ms")
    corruption: float = _as_of_a_link("corruption")
    rate_bytes_per_s: float = _as_of_a_link("rate_bytes_per_s")
    queue_bytes: int = _as_of_a_link("queue_bytes")

    def __post_init__(self) -> None:
        check_settings(self)
        LinkShape(**self.of_each_link(), delay_ms=self.delay_ms)

    def of_each_link(self) -> dict[str, Any]:
        """The properties shared by all links: all but the delay."""
        return {info.name: getattr(self, info.name) for info in LINK_SETTINGS if info.name != "delay_ms"}


@dataclass(frozen=True)
class GridParams(Params):
    columns: int = setting(
        0, unit="brokers", low=0, high=1000, help="Brokers per row; 0 chooses a shape close to a square."
    )


@dataclass(frozen=True)
class RegularParams(Params):
    degree: int = setting(
        3, unit="links", low=1, high=999, help="Links per broker. More links shorten searches and cost monitoring."
    )


@dataclass(frozen=True)
class PreferentialParams(Params):
    links_per_broker: int = setting(
        2, unit="links", low=1, high=999, help="Links that each new broker adds; the mean degree is about twice this."
    )


@dataclass(frozen=True)
class SmallWorldParams(Params):
    nearest: int = setting(
        4, unit="brokers", low=2, high=998, help="Neighbours on the circle before rewiring; an even number."
    )
    rewiring: float = setting(
        0.1, unit="fraction", low=0, high=1, help="Share of links moved to a random end: 0 is a lattice, 1 is random."
    )


@dataclass(frozen=True)
class WaxmanParams(Params):
    distance_decay: float = setting(
        0.2,
        unit="fraction",
        low=0.01,
        high=10,
        help="Reach of links, as a share of the largest distance (alpha in Waxman and NetworkX, beta in BRITE).",
    )
    link_probability: float = setting(
        0.4,
        unit="probability",
        low=0.000001,
        high=1,
        help="Probability of a link between brokers at distance 0 (beta in Waxman and NetworkX, alpha in BRITE).",
    )
    mean_degree: float = setting(
        2.0,
        unit="links",
        low=0,
        high=999,
        help="Exact mean number of links per broker, by drawing that many links; 0 uses the probability.",
    )
    links_per_broker: int = setting(
        0,
        unit="links",
        low=0,
        high=999,
        help="Links that each new broker adds, as in BRITE. Replaces the two parameters above unless 0.",
    )
