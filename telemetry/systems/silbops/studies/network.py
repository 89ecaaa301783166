"""E2.4, Fig. 10: changes of context in a network of five brokers, as fast as brokers take them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from overlay.systems.silbops.names import SIENA, SILBOPS
from overlay.systems.silbops.workload import ALL, ONE
from telemetry.charts.charts import axis
from telemetry.statistics.lines import bend
from telemetry.studies.criteria import Intervals, Shown, all_of, any_of, at_least, between
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Rows, Study, X, where
from telemetry.systems.silbops.published import PRINTED, find, slips_at
from telemetry.systems.silbops.studies.cells import ARMS, DEFINITIONS, WRITTEN, by
from telemetry.systems.silbops.studies.future import SIMULATED

SETTLED = "changes_settled"
CHANGES = 1_000
LOW, HIGH = 3.3, 7.5
BENDS: Mapping[str, tuple[float, float]] = {SIENA: (100, 400), SILBOPS: (500, 2_000)}
"""Changes between which the slope of each arm bends."""
SCOPES = {ONE: "one filter", ALL: "all filters of a subscriber"}
NETWORKS = {"custom": "the tree of Fig. 3 with one broker more", "line": "a chain", "star": "a star"}
PRINTED_AT = "queue 10,000"
"""Where values of the paper are shown, which does not say how long its buffers are."""
SPEED_UP = find(PRINTED, "speed-up")
BENT_AT = {
    SIENA: find(PRINTED, "context changes at which the slope bends", "SIENA"),
    SILBOPS: find(PRINTED, "context changes at which the slope bends", "SilboPS"),
}
RATIO, AT, GAIN = "SIENA / SilboPS", "bend at", "BIC, one line − two"


def _times(rows: Rows, network: str, scope: str) -> Quantities:
    """By length of the queues: the ratio at 1,000 changes, and where each arm's time bends, if it does.

    Raises ``KeyError``.
    """
    of = where(rows, topology=network, change_scope=scope)
    queues = sorted({row.get("channel_queue") for row in of})
    if not queues:
        raise KeyError("channel_queue")
    found: dict[str, float] = {}
    for queue in queues:
        times = {arm: by(where(of, arm=arm, channel_queue=queue), "changes", SETTLED) for arm in ARMS}
        found[f"queue {queue:,}: {RATIO}"] = times[SIENA][CHANGES] / times[SILBOPS][CHANGES]
        for arm, of_arm in times.items():
            bent = bend([*of_arm.items()])
            found |= {f"queue {queue:,}: {arm}, {AT}": bent.at, f"queue {queue:,}: {arm}, {GAIN}": bent.gain}
    return found


def _is_faster_and_bends(figures: Intervals) -> tuple[Shown, Shown]:
    """The criterion with one length of queue at least, the shape with each."""
    queues = dict.fromkeys(name.partition(": ")[0] for name in figures)
    ratios = {queue: figures[f"{queue}: {RATIO}"] for queue in queues}
    criterion = any_of(
        all_of((between(ratio, LOW, HIGH), *(_bends(figures, queue, arm) for arm in BENDS)))
        for queue, ratio in ratios.items()
    )
    return criterion, all_of(at_least(ratio, 2) for ratio in ratios.values())


def _bends(figures: Intervals, queue: str, arm: str) -> Shown:
    gain = figures[f"{queue}: {arm}, {GAIN}"]
    is_bent = True if gain["low"] > 0 else False if gain["high"] <= 0 else None
    return all_of((is_bent, between(figures[f"{queue}: {arm}, {AT}"], *BENDS[arm])))


def _claim(network: str, scope: str) -> Claim:
    bends = {f"{PRINTED_AT}: {arm}, {AT}": one.number for arm, one in BENT_AT.items()}
    return Claim(
        f"speed-up-{network}-{scope}",
        f"SilboPS is about 5 times as fast, and slopes bend where buffers are full ({NETWORKS[network]}, a change of "
        f"{SCOPES[scope]}).",
        f"With one of the lengths of queues, the ratio of times from the first of 1,000 changes until settled is in "
        f"[{LOW}, {HIGH}], and two lines fit the times better than one by BIC, which meet at 100 to 400 changes in "
        "SIENA and at 500 to 2,000 in SilboPS.",
        "The ratio is at least 2 with each.",
        partial(_times, network=network, scope=scope),
        _is_faster_and_bends,
        WRITTEN,
        "ratio, changes, or BIC",
        published={f"{PRINTED_AT}: {RATIO}": SPEED_UP.number, **bends},
        source=SPEED_UP.source,
    )


def _by_changes(rows: Rows, scope: str) -> Mapping[tuple[str, X], Quantity]:
    """On the tree."""
    return {
        (f"{row.get('arm')}, queue {row.get('channel_queue'):,}", float(row.get("changes"))): row.measures[SETTLED]
        for row in where(rows, topology="custom", change_scope=scope)
    }


NETWORK_STUDY = Study(
    "E2.4",
    "Changes in a network",
    "How much sooner is a network settled after changes of context, if they are apart from subscriptions?",
    DEFINITIONS / "change-network.yaml",
    tuple(
        Plot(
            f"10-{scope}",
            f"Time until settled, a change of {name}",
            axis("Changes", log=True),
            axis("Time until settled", "µs", log=True),
            partial(_by_changes, scope=scope),
        )
        for scope, name in SCOPES.items()
    ),
    tuple(_claim(network, scope) for network in NETWORKS for scope in SCOPES),
    names=("silbops-change-network",),
    says="In a network of five brokers SilboPS is about 5 times as fast; both slopes bend, at about 200 and 1,000 "
    "changes, where buffers are full.",
    sources=(SPEED_UP.source,),
    limits=(
        SIMULATED,
        "The paper prints neither its network nor how many filters a change concerns: with ten filters, messages alone "
        "are 20 times as many.",
        "Deviations of a line are relative to its times, so that few changes count as much as many.",
        *slips_at("197"),
    ),
)
