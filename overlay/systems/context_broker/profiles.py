"""Named sets of settings, to be chosen as one. Pure.

A profile is a mapping from names of ``BrokerConfig``'s fields to values and nothing else: what it does not name has its
default, and whatever is given beside it goes before it. ``docs/settings.md`` is made from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overlay.core.settings import SettingInfo, Value

PLAIN = "plain"

SUSPECTING: Mapping[str, Value] = {"ping_misses": 2, "indirect_probes": 3}
"""Two misses make a suspect, whom three others are asked to ping; three misses alone kill the living (SWIM)."""

PROFILES: dict[str, Mapping[str, Value]] = {
    PLAIN: {},
    "prototype": {
        "walk_policy": "uniform",
        "table": "linear",
        "trace_one_in": 0,  # its published figures are microseconds, and keeping steps takes some
    },
    "design": {
        "search": "lookahead",
        "lookahead_ttl": 2,
        "replication_index": 4000,
        "membership": "greedy",
        "gone_ttl": 2,
        **SUSPECTING,
    },
    "improved": {
        "replica_refresh": True,
        "hop_ack": True,
        "gone_ttl": 2,
        **SUSPECTING,
    },
    "structured": {
        "arm": "structured",
        **SUSPECTING,
    },
}

SUMMARIES: dict[str, str] = {
    PLAIN: "the wire protocol's defaults",
    "prototype": "what the published prototype did: walks that may turn on the spot, a linear table, one replica, "
    "nobody told of a death",
    "design": "what the published thesis designed (its chapter 3): walks with lookahead, replicas at random wherever "
    "an answer passes, neighbours by ping, notices of leave and crash",
    "improved": "replicas that follow their provider, what is lost between brokers sent again, nobody declared dead by "
    "loss alone",
    "structured": "a distributed hash table in place of searches: data lie where a hash says",
}
"""What each is, for help texts and the documentation."""

PROFILE = SettingInfo(
    name="profile",
    kind="text",
    default=PLAIN,
    unit="",
    help="A named set of settings; those given beside it go before it. "
    + "; ".join(f"{name}: {summary}" for name, summary in SUMMARIES.items())
    + ".",
    low=None,
    high=None,
    choices=tuple(PROFILES),
)


def of_profile(settings: Mapping[str, Any]) -> Mapping[str, Value]:
    """What the profile named in ``settings`` sets; nothing for one that there is not, which a check refuses."""
    name = settings.get(PROFILE.name, PLAIN)
    return PROFILES.get(name, {}) if isinstance(name, str) else {}


def resolved(settings: Mapping[str, Any]) -> dict[str, Any]:
    """``settings`` over those of their profile, which is named no more. Raises ``InvalidSetting`` if it is unknown."""
    PROFILE.check(settings.get(PROFILE.name, PLAIN))
    return {**of_profile(settings), **{name: value for name, value in settings.items() if name != PROFILE.name}}


def differing() -> dict[str, dict[str, Value]]:
    """The settings that some profile sets: of each, the value in every profile that does."""
    found: dict[str, dict[str, Value]] = {}
    for profile, values in PROFILES.items():
        for name, value in values.items():
            found.setdefault(name, {})[profile] = value
    return found
