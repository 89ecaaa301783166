"""Profiles: named sets of settings. Pure.

A profile maps names of ``BrokerConfig``'s fields to values. Other settings have their defaults. Settings given
explicitly override the profile. ``docs/settings.md`` is generated from this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overlay.core.settings import Value, profile_setting
from overlay.core.settings import resolved as with_profile

PLAIN = "plain"

SUSPECTING: Mapping[str, Value] = {"ping_misses": 2, "indirect_probes": 3}
"""A neighbour is suspected after two misses, and three others are asked to ping it (SWIM). Without these probes, three
misses drop live neighbours on lossy links."""

PROFILES: dict[str, Mapping[str, Value]] = {
    PLAIN: {},
    "prototype": {
        "walk_policy": "uniform",
        "table": "linear",
        "trace_one_in": 0,  # its published figures are in microseconds, and tracing takes some
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
    "prototype": "the published prototype: walks that may turn back at once, a linear table, one replica, no notices "
    "of death",
    "design": "the design of the published thesis (chapter 3): walks with lookahead, replicas at random brokers on the "
    "path of an answer, neighbours chosen by ping, notices of leave and crash",
    "improved": "replicas that follow their provider, retransmission between brokers, deaths declared only after "
    "indirect probes",
    "structured": "a distributed hash table instead of searches: a hash determines where data is stored",
}
"""A description of each profile, for help texts and the documentation."""

PROFILE = profile_setting(PLAIN, PROFILES, SUMMARIES)


def resolved(settings: Mapping[str, Any]) -> dict[str, Any]:
    """``settings`` merged with those of their profile, without its name. Raises ``InvalidSetting`` if it is unknown."""
    return with_profile(settings, PROFILE, PROFILES)


def differing() -> dict[str, dict[str, Value]]:
    """The settings in any profile, with their value in each profile that sets them."""
    found: dict[str, dict[str, Value]] = {}
    for profile, values in PROFILES.items():
        for name, value in values.items():
            found.setdefault(name, {})[profile] = value
    return found
