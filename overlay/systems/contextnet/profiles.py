"""The two profiles: the paper's, as far as it is known, and the defaults, which improve on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overlay.core.settings import Value, profile_setting
from overlay.core.settings import resolved as with_profile

PAPER, IMPROVED = "paper", "improved"

PROFILES: Mapping[str, Mapping[str, Value]] = {
    IMPROVED: {},
    PAPER: {
        "delivery": "mini_buffer",
        "mini_buffer": 2,
        "resume": False,
        "presence_events": False,
        "rank": "headroom",
        "dedup_ids": 0,
    },
}
"""The values of each; other settings have their defaults."""

SUMMARIES: Mapping[str, str] = {
    IMPROVED: "messages are acknowledged when they are durable, connections resume, and the store learns at once of "
    "nodes that return",
    PAPER: "as in the paper: of a broken connection the last two messages are stored, and the store learns of nodes by "
    "reports",
}

PROFILE = profile_setting(IMPROVED, PROFILES, SUMMARIES)


def resolved(settings: Mapping[str, Any]) -> dict[str, Any]:
    """``settings`` merged with those of their profile, without its name. Raises ``InvalidSetting`` if it is unknown."""
    return with_profile(settings, PROFILE, PROFILES)
