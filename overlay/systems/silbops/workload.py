"""The workload: cameras that publish, and vehicles that subscribe and move (seed 002, presets). Pure.

::

    0                            all have attached, set their contexts, advertised and subscribed
    |-- a client per stagger_ms --|-- settling --|                 |
    |<--------------- warming ----------------->|<-- measuring -->|<-- drain -->

Counts, mix and operators follow the generators ssbg and WorkloadGen of Carzaniga and Wolf's group; all else is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from overlay.core.errors import InvalidSetting
from overlay.core.settings import InvalidText, check, setting

MAX_CLIENTS = 100_000
MOST_OF_ONE = 100_000
"""Subscriptions of a subscriber."""
FIXED, JUMP, WALK = "fixed", "jump", "walk"
ALL, ONE = "all", "one"


def weights(count: int) -> Any:
    """The language of ``count`` weights: whole numbers, not all 0, with colons between them."""

    def parse(text: str) -> tuple[int, ...]:
        parts = text.split(":")
        if len(parts) != count or not all(part.isascii() and part.isdigit() and len(part) <= 6 for part in parts):
            raise InvalidText(0, f"must be {count} whole numbers with colons between them, each below 1,000,000")
        found = tuple(int(part) for part in parts)
        if not any(found):
            raise InvalidText(0, "must not be all 0")
        return found

    return parse


def _weights(default: str, help: str) -> Any:
    return setting(default, most=40, language=weights(default.count(":") + 1), help=help)


def _count(default: int, low: int, high: int, help: str, unit: str = "") -> Any:
    return setting(default, low=low, high=high, help=help, unit=unit)


@dataclass(frozen=True)
class Workload:
    """The load of a run. The defaults are those of the paper's figures as far as it gives them."""

    publishers: int = _count(5, 0, MAX_CLIENTS, "Clients that publish.")
    subscribers: int = _count(950, 0, MAX_CLIENTS, "Clients that subscribe, and whose context changes.")
    filters_min: int = _count(1, 1, 1_000, "Fewest subscriptions of a subscriber.")
    filters_max: int = _count(20, 1, 1_000, "Most subscriptions of a subscriber. Each number up to it is as likely.")
    subscriptions: int = setting(
        0,
        low=0,
        high=2_000_000,
        zero="by filters",
        help="Subscriptions of all subscribers, in equal parts. With 0, filters_min and filters_max apply.",
    )
    attributes_min: int = _count(1, 1, 64, "Fewest attributes of a notification.")
    attributes_max: int = _count(10, 1, 64, "Most attributes of a notification. More match more subscriptions.")
    constraints_min: int = _count(1, 0, 16, "Fewest constraints of a filter, without those of context.")
    constraints_max: int = _count(5, 0, 16, "Most constraints of a filter. More match fewer notifications.")
    attribute_names: int = _count(1_000, 1, 100_000, "Different names of attributes. Fewer match more often.")
    name_zipf: float = setting(
        1.0, low=0, high=3, help="Exponent of the Zipf distribution of names; 0: all are as frequent."
    )
    string_values: int = _count(1_000, 1, 1_000_000, "Different texts that are values.")
    value_zipf: float = setting(
        1.0, low=0, high=3, help="Exponent of the Zipf distribution of texts; 0: all are as frequent."
    )
    int_values: int = _count(100, 1, 1_000_000, "Different numbers that are values: 0, 1 and so on.")
    type_mix: str = _weights("6:4:1", "Weights of the types of attributes: text, number, true or false.")
    number_ops: str = _weights("100:20:20", "Weights of the operators on numbers: = > <.")
    string_ops: str = _weights("100:0:0:0", "Weights of the operators on texts: = prefix suffix contains.")
    square_km: float = setting(1_000.0, unit="km", low=1, high=40_000, help="Side of the square with all clients.")
    radius_km: float = setting(
        20.0,
        unit="km",
        low=0,
        high=20_000,
        help="A subscriber is interested in publishers at most so far away, in x and in y.",
    )
    mobility: str = setting(
        JUMP,
        choices=(FIXED, JUMP, WALK),
        help="How the positions of subscribers change. fixed: not at all; jump: to a uniform position, as published; "
        "walk: straight on with speed_m_s, reflected at the edge of the square.",
    )
    publisher_mobility: str = setting(
        FIXED, choices=(FIXED, JUMP, WALK), help="The same of publishers, whose changes send nothing by themselves."
    )
    speed_m_s: float = setting(10.0, unit="m/s", low=0, high=100, help="Speed of clients that walk.")
    context_interval_s: float = setting(
        1.0, unit="s", low=0.001, high=86_400, help="Time between two changes of a client's context."
    )
    publish_interval_s: float = setting(
        1.0, unit="s", low=0.001, high=86_400, help="Time between two notifications of a publisher."
    )
    changes: int = setting(
        0,
        low=0,
        high=10_000_000,
        zero="by time",
        help="Changes of context of all subscribers, one after the other and as fast as brokers take them. With 0, "
        "context_interval_s applies.",
    )
    notifications: int = setting(
        0,
        low=0,
        high=10_000_000,
        zero="by time",
        help="Notifications of all publishers, as fast as brokers take them. With 0, publish_interval_s applies.",
    )
    changing_subscribers: int = setting(
        0, low=0, high=MAX_CLIENTS, zero="all", help="How many subscribers change their context: the first ones."
    )
    admitted_share: float = setting(
        1.0,
        unit="fraction",
        low=0,
        high=1,
        help="Share of subscribers that publishers admit. Below 1, subscribers have a number in their context, and "
        "publishers send a function of it.",
    )
    handover_interval_s: float = setting(
        0.0,
        unit="s",
        low=0,
        high=86_400,
        zero="never",
        help="Time after which a subscriber moves to another broker.",
    )
    change_scope: str = setting(
        ALL,
        choices=(ALL, ONE),
        help="Which subscriptions depend on context. all: each; one: the first of each subscriber only.",
    )
    duration_s: float = setting(
        60.0,
        unit="s",
        low=1,
        high=86_400,
        help="Duration of measuring. With changes or notifications, it is the time that they may take.",
    )
    stagger_ms: float = setting(
        2.0, unit="ms", low=0, high=60_000, help="Time between the starts of clients, which determines the ramp."
    )

    def __post_init__(self) -> None:
        check(self)
        for name in ("filters", "attributes", "constraints"):
            fewest, most = getattr(self, f"{name}_min"), getattr(self, f"{name}_max")
            if fewest > most:
                raise InvalidSetting(f"{name}_min", f"{fewest:,} is more than {name}_max, which is {most:,}")
            if name != "filters" and most > self.attribute_names:
                sentence = f"{most:,} distinct names need as many attribute_names; there are {self.attribute_names:,}"
                raise InvalidSetting(f"{name}_max", sentence)
        self._check_clients()

    def _check_clients(self) -> None:
        if not self.subscribers + self.publishers:
            raise InvalidSetting("publishers", "there are neither publishers nor subscribers")
        for name in ("subscriptions", "changes"):
            if getattr(self, name) and not self.subscribers:
                raise InvalidSetting(name, "needs subscribers, of which there are none")
        if self.subscriptions > MOST_OF_ONE * max(1, self.subscribers):
            raise InvalidSetting("subscriptions", f"a subscriber has {MOST_OF_ONE:,} at most")
        if self.changes and self.mobility == FIXED:
            raise InvalidSetting("changes", "nothing changes with mobility fixed; choose jump or walk")
        if self.notifications and not self.publishers:
            raise InvalidSetting("notifications", "needs publishers, of which there are none")
        if self.changing_subscribers > self.subscribers:
            sentence = f"{self.changing_subscribers:,} is more than the number of subscribers, {self.subscribers:,}"
            raise InvalidSetting("changing_subscribers", sentence)

    @property
    def changing(self) -> int:
        """Subscribers whose context changes: the first ones."""
        return 0 if self.mobility == FIXED else self.changing_subscribers or self.subscribers

    @property
    def has_groups(self) -> bool:
        return self.admitted_share < 1

    def subscriptions_of(self, subscriber: int) -> int | None:
        """``None``: it is drawn."""
        if not self.subscriptions:
            return None
        each, rest = divmod(self.subscriptions, self.subscribers)
        return each + (subscriber < rest)


def share_of(total: int, client: int, clients: int) -> int:
    """How many of ``total`` operations are a client's, where clients take turns."""
    each, rest = divmod(total, clients)
    return each + (client < rest)


def home_of(client: int, brokers: int) -> int:
    """The broker where it begins."""
    return client % brokers
