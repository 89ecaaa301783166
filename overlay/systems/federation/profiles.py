"""The two profiles of a federation: the paper's, and the defaults, which improve on it. They differ in nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overlay.core.settings import Value, profile_setting
from overlay.core.settings import resolved as with_profile

PUBLISHED, IMPROVED = "published", "improved"

PROFILES: Mapping[str, Mapping[str, Value]] = {
    IMPROVED: {},
    PUBLISHED: {
        "keepalive_share": 0.9,
        "implicit_keepalive": False,
        "covering": "off",
        "encoding": "contextml",
        "cache_cap": 0.15,
        "bulk_deadline": "postponed",
    },
}
"""The values of each; other settings have their defaults. The corrections of the paper's equations are in both."""

SUMMARIES: Mapping[str, str] = {
    IMPROVED: "binary messages, covering, a cache without a cap, and keep-alives that tolerate a lost message",
    PUBLISHED: "as in the paper: ContextML, a cache for 15 % of subscriptions, late keep-alives",
}

PROFILE = profile_setting(IMPROVED, PROFILES, SUMMARIES)


def resolved(settings: Mapping[str, Any]) -> dict[str, Any]:
    """``settings`` merged with those of their profile, without its name. Raises ``InvalidSetting`` if it is unknown."""
    return with_profile(settings, PROFILE, PROFILES)
