"""Configurations of seed 000 not used for the calibration, to be run live and simulated."""

from __future__ import annotations

from typing import Any

from telemetry.calibration.plan import Anchor


def _load(providers: int, consumers: int, update_s: float, request_s: float) -> dict[str, Any]:
    return {
        "providers": providers,
        "consumers": consumers,
        "update_interval_s": update_s,
        "request_interval_s": request_s,
    }


ANCHORS = (
    Anchor("central, 200 requests/s", "central", 1, _load(50, 200, 1.0, 1.0)),
    Anchor("ring of 10, 200 requests/s", "ring", 10, _load(50, 200, 1.0, 1.0)),
    Anchor("full mesh of 10, 10 requests/s", "full-mesh", 10, _load(50, 50, 5.0, 5.0)),
    Anchor("Waxman of 10, prototype, 500 requests/s", "waxman", 10, _load(50, 500, 5.0, 1.0), {"profile": "prototype"}),
    Anchor(
        "central, linear table of 1,000, 100 requests/s", "central", 1, _load(1000, 100, 30.0, 1.0), {"table": "linear"}
    ),
)

QUESTION = (
    "Does the linear table make a central broker slower with providers? One broker, 33 requests a second as in the "
    "thesis with 1,000 consumers at 30 s; every provider updates the one entity that all ask for, each 30 s."
)
PROVIDERS = (50, 500, 1000)
GROWTH = tuple(
    Anchor(
        f"central, {table} table of {providers:,}",
        "central",
        1,
        _load(providers, 200, 30.0, 6.0),
        {"table": table},
        QUESTION,
    )
    for table in ("linear", "indexed")
    for providers in PROVIDERS
)
