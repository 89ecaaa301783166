"""The two profiles of SilboPS: the paper's, and the defaults, which improve on it. They differ in nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overlay.core.settings import Value, profile_setting
from overlay.core.settings import resolved as with_profile

SEED, IMPROVED = "seed", "improved"

PROFILES: Mapping[str, Mapping[str, Value]] = {
    IMPROVED: {},
    SEED: {"index": "counting", "scope_batch": 0},
}
"""The values of each; other settings have their defaults."""

SUMMARIES: Mapping[str, str] = {
    IMPROVED: "subscriptions are found by their rarest equality, and many contexts are tested together",
    SEED: "as in the paper: subscriptions are found by counting, and contexts are tested one by one",
}

PROFILE = profile_setting(IMPROVED, PROFILES, SUMMARIES)


def resolved(settings: Mapping[str, Any]) -> dict[str, Any]:
    """``settings`` merged with those of their profile, without its name. Raises ``InvalidSetting`` if it is unknown."""
    return with_profile(settings, PROFILE, PROFILES)
