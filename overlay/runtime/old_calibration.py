"""Reads calibration files of format 2, which had one table of costs by code, for the one system of that time.

Counterpart: ``overlay.runtime.calibrated``, the only caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overlay.core.calibration import FORMAT
from overlay.core.errors import InvalidSetting
from overlay.systems.registry import FIRST

OLD_FORMAT = 2
NAMES = {
    "1": "Ping",
    "2": "ContextUpdateAdvertisement",
    "3": "ContextRequest",
    "4": "ContextResponse",
    "32": "QuietRequest",
}
"""Messages by code. Files have costs of these only."""
FORWARDED = ("ContextRequest", "QuietRequest")
DIGITS = 3
"""Decimals of a client's microseconds: format 2 rounded each to nanoseconds before it added them."""


def converted(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document of format 2 as one of the current format. Raises ``InvalidSetting`` if it is damaged."""
    try:
        return {
            "format": FORMAT,
            "ranks": document["ranks"],
            "deliveries": {
                "to_server": document["to_broker"],
                **{name: document[name] for name in ("between", "to_client", "timer")},
            },
            "systems": {FIRST: {"roles": old_roles(document), "measured": document["measured"]}},
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidSetting("format", f"is {OLD_FORMAT}, and {error} is missing or wrong; calibrate again") from None


def old_roles(document: Mapping[str, Any]) -> dict[str, Any]:
    """The costs in a document of format 2, by role, as in the current format."""
    client = {
        "batch_us": 0.0,
        "other_us": round(document["client_receives_us"], DIGITS),
        "sent_us": round(document["client_sends_us"], DIGITS),
    }
    return {"broker": _broker(document), "providers": client, "consumers": client}


def _broker(document: Mapping[str, Any]) -> dict[str, Any]:
    memory = document["memory"]
    return {
        **{name: document[name] for name in ("batch_us", "other_us", "sent_us", "kilobyte_us", "cold_us")},
        "received_us": {NAMES[code]: us for code, us in document["received_us"].items()},
        "extra_us": dict.fromkeys(FORWARDED, document["forwarded_us"]),
        "work_us": {
            "scans": {"idle_s": [0.0], "values": [document["scan_us"]]},
            "compared": document["scanned_us"],
            "matched": document["matched_us"],
        },
        "memory": {
            **{name: memory[name] for name in ("idle_rss", "idle_pss", "idle_uss")},
            "kept": {"bytes": 1.0, "entries": memory["per_entry"], "pending": memory["per_pending"]},
        },
    }
