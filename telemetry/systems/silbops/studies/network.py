"""E2.4, Fig. 10: changes of context in a network of five brokers, as fast as brokers take them."""

from __future__ import annotations

from functools import partial

from telemetry.studies.criteria import are_between
from telemetry.studies.study import Claim, Quantities, Rows, Source, Study, where
from telemetry.systems.silbops.studies.future import DEFINITIONS, SIMULATED

FIGURE = Source("Fig. 10", "195-197", "about 5 times")
CHANGES = 1_000
PUBLISHED = 5.0
LOW, HIGH = 3.3, 7.5
ANY = float("inf")


def _speed_up(rows: Rows, scope: str) -> Quantities:
    """Time from the first of 1,000 changes until settled, SIENA / SilboPS, by length of the queues.

    Raises ``KeyError``.
    """
    of = where(rows, changes=CHANGES, change_scope=scope)
    times = {(row.get("arm"), row.get("channel_queue")): row.measures["changes_settled"] for row in of}
    if not times:
        raise KeyError("changes")
    queues = sorted({queue for _, queue in times})
    return {f"queue {queue:,}": times["siena", queue] / times["silbops", queue] for queue in queues}


def _claim(scope: str, moved: str) -> Claim:
    return Claim(
        f"speed-up-{scope}",
        f"SilboPS is about 5 times as fast where a change concerns {moved}.",
        f"The ratio of times until settled, at 1,000 changes, is in [{LOW}, {HIGH}].",
        "It is at least 2.",
        partial(_speed_up, scope=scope),
        are_between(LOW, HIGH, (2, ANY)),
        "2026-11-29, from the paper's words and numbers; a prototype's figures were known, no run of this study",
        published={"queue 10,000": PUBLISHED},
        source=FIGURE,
    )


NETWORK_STUDY = Study(
    "E2.4",
    "Changes in a network",
    "How much sooner is a network settled after changes of context, if they are apart from subscriptions?",
    DEFINITIONS / "change-network.yaml",
    (),
    (_claim("one", "one filter"), _claim("all", "all filters of a subscriber")),
    says="In a network of five brokers SilboPS is about 5 times as fast; both slopes bend, at about 200 and 1,000 "
    "changes, where buffers are full.",
    sources=(FIGURE,),
    limits=(
        SIMULATED,
        "The paper prints neither its network nor how many filters a change concerns: with ten filters, messages alone "
        "are 20 times as many.",
        "Where the slopes bend is not judged here.",
    ),
)
