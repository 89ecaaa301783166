"""E3.1: what compression and aggregation save, and what they do to lag."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from telemetry.charts.charts import axis
from telemetry.statistics.intervals import COUNT
from telemetry.studies.study import Plot, Quantity, Rows, Study, X, mean, where
from telemetry.systems.radiator.studies.arms import (
    BYTES,
    BYTES_AXIS,
    DEFINITIONS,
    EVERYONE,
    LAG,
    LAG_AXIS,
    LONGEST_QUEUE,
    OVERLOAD,
    SHARES,
    VARIATION,
    VOLUMES,
    by_the_first_that_holds,
    equal_work,
    of_volume,
    saturated,
)
from telemetry.systems.radiator.studies.volume_claims import CLAIMS, TABLE_3


def _bytes(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    arm = equal_work(rows)
    codecs = list(dict.fromkeys(str(row.settings["codec"]) for row in arm))
    return {
        (codec, f"Vol {volume}"): mean(of_volume(arm, volume, codec), BYTES) for codec in codecs for volume in VOLUMES
    }


def _saturated_lag(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    return {
        (f"{codec}, uplink / {share}", f"Vol {volume}"): mean(of_volume(saturated(rows, share), volume, codec), LAG)
        for share in SHARES
        for codec in ("none", "gzip")
        for volume in VOLUMES
    }


def _variation(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    return {("gzip", f"Vol {one}"): mean(of_volume(equal_work(rows), one), VARIATION) for one in VOLUMES}


def _short_queue(rows: Rows, measure: str) -> Mapping[tuple[str, X], Quantity]:
    """Refusals need a queue that can be full: at the paper's scale only."""
    short = [row for row in rows if row.settings["uplink_share"] and row.settings["uplink_queue_bytes"] < LONGEST_QUEUE]
    return {
        (f"uplink / {share}", f"Vol {one}"): mean(of_volume(where(short, uplink_share=share), one), measure)
        for share in SHARES
        for one in VOLUMES
    }


VOLUME_STUDY = Study(
    "E3.1",
    "Compression and aggregation",
    "What do compression and aggregation save per message and recipient, and what do they do to lag?",
    DEFINITIONS / "volumes.yaml",
    (
        Plot("bytes", "Bytes per pair by volume, below saturation", axis("Volume"), BYTES_AXIS, _bytes),
        Plot("lag", "Mean lag by volume, saturated uplink", axis("Volume"), LAG_AXIS, _saturated_lag),
        Plot(
            "short-queue",
            "Mean lag by volume, saturated uplink with a queue of 16 MiB",
            axis("Volume"),
            LAG_AXIS,
            partial(_short_queue, measure=LAG),
        ),
        Plot(
            "short-queue-refused",
            "Messages refused by volume, saturated uplink with a queue of 16 MiB",
            axis("Volume"),
            axis("Messages refused", "", zero=True),
            partial(_short_queue, measure="refused"),
            COUNT,
        ),
        Plot(
            "variation",
            "Variation of outbound traffic per second, below saturation",
            axis("Volume"),
            axis("Standard deviation / mean", "", zero=True),
            _variation,
            COUNT,
        ),
    ),
    by_the_first_that_holds(CLAIMS),
    names=("E3.1-equal", "E3.1-saturated"),
    says="Compression saves 25 % of the server's traffic, aggregates of 20 another 8 %, of 50 40 %; under load they "
    "lower the lag from 42 to 34 and 36 s.",
    sources=(TABLE_3,),
    limits=(EVERYONE, OVERLOAD),
)
