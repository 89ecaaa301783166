"""The settings of a Radiator network: aggregation, transport (``config.Transport``), and the links of clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.core.links import LinkShape
from overlay.core.settings import ENGINE, Use, check, setting
from overlay.systems.radiator.aggregation.choice import FORMS
from overlay.systems.radiator.aggregation.options import Options
from overlay.systems.radiator.config import Transport, ns
from overlay.systems.radiator.language.aggregability import aggregability, constant_threshold
from overlay.systems.radiator.language.aggregates import Aggregation
from overlay.systems.radiator.language.chainability import Chainability
from overlay.systems.radiator.language.scenarios import SCENARIOS
from overlay.systems.radiator.language.source import MAX_CHARACTERS

AUTO, NONE = "auto", "none"


def _unless(word: str, parse: Callable[[str], object]) -> Callable[[str], object]:
    return lambda text: text if text.strip() == word else parse(text)


@dataclass(frozen=True)
class Retaining:
    """When messages leave the server, and as what."""

    scenario: str = setting(
        "custom",
        choices=tuple(SCENARIOS),
        help="One of the six scenarios of the paper. It gives aggregability and aggregation where these are auto, and "
        "what messages contain. 1: traffic; 2: road hazards; 3: popular spots; 4: likes; 5: crowded spaces; 6: stocks.",
    )
    aggregability: str = setting(
        AUTO,
        most=MAX_CHARACTERS,
        language=_unless(AUTO, aggregability),
        help="How much a message s is aggregated before it is sent to a recipient r, such as {volume: 20}, "
        "{people: 10} or {time: 30} if friend(s, r) else {time: 300}. More aggregation means fewer bytes and later "
        "messages. auto: that of the scenario; of custom, {volume: 1}.",
    )
    aggregation: str = setting(
        AUTO,
        most=MAX_CHARACTERS,
        language=_unless(AUTO, Aggregation),
        help="How messages become one: join, concat, or aggregates such as avg(speed) by cell(location). Aggregates "
        "are smaller and lose detail; one that names r is made for each recipient. auto: that of the "
        "scenario; of custom, join.",
    )
    on_error: str = setting(
        "{volume: 1}",
        most=MAX_CHARACTERS,
        language=constant_threshold,
        help="The result of an aggregability that fails, for example because an attribute is missing. {volume: 1} "
        "sends at once.",
    )
    echo: bool = setting(
        False,
        help="Whether senders receive their own messages. With echo, the queues of all recipients stay equal, so "
        "they share aggregates; without, aggregates multiply.",
    )
    index: str = setting(
        "classes",
        choices=tuple(FORMS),
        help="Form of Algorithm 1; all have the same output. literal: as printed, the slowest; indexed: one evaluation "
        "for each recipient; classes: one for all recipients that the aggregability cannot tell apart.",
    )
    flush: str = setting(
        "deadline",
        choices=("deadline", "arrival"),
        help="When a queue with a threshold of time leaves. deadline: when its time is over; arrival: with the next "
        "message afterwards, as in the paper, which may never come.",
    )
    retain_max_s: float = setting(
        300.0,
        unit="s",
        low=0,
        high=86_400,
        zero="off",
        help="Longest time that a message is retained, whatever its threshold. A low limit bounds the delay and makes "
        "aggregates smaller; 0 sets none.",
    )


def _delay(ends: str) -> Any:
    return setting(0.0, unit="ms", low=0, high=60_000, help=f"One-way delay between {ends}. In simulated runs.")


def _jitter(ends: str) -> Any:
    sentence = f"Largest variation of the delay between {ends}, at most the delay. In simulated runs."
    return setting(0.0, unit="ms", low=0, high=60_000, help=sentence)


def _loss(ends: str) -> Any:
    sentence = f"Share of datagrams lost between {ends}, each way. In simulated runs."
    return setting(0.0, unit="fraction", low=0, high=1, help=sentence)


@dataclass(frozen=True)
class Links:
    """Chains, the share of the uplink, and the links of clients."""

    chainability: str = setting(
        NONE,
        most=MAX_CHARACTERS,
        language=_unless(NONE, Chainability),
        help="How well client b follows client a in a chain, such as 1 / (1 + distance_km(a.location, b.location)); at "
        "most 0 forbids it. none: chains in random order.",
    )
    uplink_share: float = setting(
        0.0,
        low=0,
        high=10,
        zero="off",
        help="Sets the uplink to what this load needs at one message per push with gzip, divided by this: above 1 it "
        "is saturated. The same for all volumes and codecs of a sweep. Needs an open loop and no uplink_bytes_per_s.",
    )
    uplink_share_of: str = setting(
        "unchained",
        choices=("unchained", "chained"),
        help="What the load needs with uplink_share. unchained: with direct pushes; chained: with the chains of this "
        "configuration.",
    )
    server_link_delay_ms: float = _delay("the server and a client")
    server_link_jitter_ms: float = _jitter("the server and a client")
    server_link_loss: float = _loss("the server and a client")
    peer_link_delay_ms: float = _delay("two clients")
    peer_link_jitter_ms: float = _jitter("two clients")
    peer_link_loss: float = _loss("two clients")


@dataclass(frozen=True)
class Settings(Links, Transport, Retaining):
    """All settings. Fields are in the order of ``Retaining``, ``Transport``, ``Links``."""

    def __post_init__(self) -> None:
        check(self)
        if self.uplink_share and self.uplink_bytes_per_s:
            raise InvalidSetting("uplink_share", "must be 0 with uplink_bytes_per_s, which it would set")
        for prefix in ("server_link_", "peer_link_"):
            self._shape(prefix)

    @property
    def aggregability_text(self) -> str:
        """With *auto* replaced."""
        return SCENARIOS[self.scenario].aggregability if self.aggregability.strip() == AUTO else self.aggregability

    @property
    def aggregation_text(self) -> str:
        return SCENARIOS[self.scenario].aggregation if self.aggregation.strip() == AUTO else self.aggregation

    @cached_property
    def server_link(self) -> LinkShape:
        """Each direction between the server and a client."""
        return self._shape("server_link_")

    @cached_property
    def peer_link(self) -> LinkShape:
        """Each direction between two clients."""
        return self._shape("peer_link_")

    def options(self, audience: int = 0) -> Options:
        """``audience``: recipients of each message; 0: all."""
        return Options(
            echo=self.echo,
            has_deadlines=self.flush == "deadline",
            retain_max=ns(self.retain_max_s),
            audience=audience,
            is_per_recipient=Aggregation(self.aggregation_text).is_per_recipient,
        )

    def _shape(self, prefix: str) -> LinkShape:
        values = {name: getattr(self, prefix + name) for name in ("delay_ms", "jitter_ms", "loss")}
        try:
            return LinkShape(**values)
        except InvalidSetting as error:
            raise InvalidSetting(prefix + error.field, error.sentence) from None


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """The configuration of a server."""

    settings: Settings
    audience: int = 0
    """Recipients of each message; 0: all."""
    is_reported: bool = True
    """Whether what happened to messages is read (``Service.traces``); not in a network, which has no journal."""


USES: Mapping[str, Use] = {
    "chain_base": Use("chain_percent"),
    "chainability": Use("chain_percent"),
    "report_every": Use("chain_percent"),
    "chain_attempts": Use("chain_percent"),
    "uplink_share_of": Use("uplink_share"),
    **{
        f"{link}_link_{name}": Use(ENGINE, (SIMULATED,))
        for link in ("server", "peer")
        for name in ("delay_ms", "jitter_ms", "loss")
    },
    "messages_per_s": Use("loop", ("open",)),
    "arrivals": Use("loop", ("open",)),
    "think_s": Use("loop", ("closed",)),
    "session_mean_s": Use("churn", ("exponential", "weibull")),
    "session_shape": Use("churn", ("weibull",)),
    "downtime_mean_s": Use("churn", ("exponential", "weibull")),
    "churn_leave_share": Use("churn", ("exponential", "weibull")),
    "churn_schedule": Use("churn", ("file",)),
}
"""Settings and workload fields that depend on another one."""
