"""E1.1 with service times as measured: presets E1.1-calibrated and E1.1-saturation."""

from __future__ import annotations

from collections.abc import Sequence

from telemetry.studies.judging import Result
from telemetry.studies.study import Study
from telemetry.systems.federation.published import slips_at
from telemetry.systems.federation.studies.bearing import with_rates
from telemetry.systems.federation.studies.cells import DEFINITIONS, DEVIATION, MEAN
from telemetry.systems.federation.studies.loaded import MEAN_SOURCE, SPREAD_SOURCE, plot, told
from telemetry.systems.federation.studies.loaded_claims import Service, of_service_time

PUBLISHED_MOST = 60.0
"""The highest rate of the paper, queries/s."""
CALIBRATED = Service("calibrated", "measured service times, rates of the paper", 0.0, up_to=PUBLISHED_MOST)
SATURATED = Service(
    "saturation",
    "measured service times, rates as shares of what a broker bears",
    mean_ms=0.0,
    above=PUBLISHED_MOST,
)


def tell(result: Result) -> Sequence[str]:
    return told(result, {"11a": CALIBRATED, "11a-saturation": SATURATED})


CALIBRATED_STUDY = Study(
    "E1.1-calibrated",
    "T_S under load, with measured service times",
    "Does Fig. 11 come out with the service times of these brokers, at the paper's rates, and at rates that load them "
    "as much?",
    DEFINITIONS / "calibrated.yaml",
    (
        plot("11a", "Mean T_S by rate", CALIBRATED, MEAN),
        plot("11b", "Standard deviation of T_S by rate", CALIBRATED, DEVIATION),
        plot("11a-saturation", "Mean T_S by rate", SATURATED, MEAN),
        plot("11b-saturation", "Standard deviation of T_S by rate", SATURATED, DEVIATION),
    ),
    (of_service_time(CALIBRATED), of_service_time(SATURATED)),
    names=("E1.1-saturation",),
    fill=with_rates,
    says="T_S rises with the rate of queries, much less with three brokers than with one; its deviation grows "
    "markedly, more with one broker; federated brokers are better under increasing load.",
    sources=(MEAN_SOURCE, SPREAD_SOURCE),
    limits=(
        "All values are simulated, with the service times of the calibration that is in use; the page Calibration "
        "shows how far simulated medians are from live ones.",
        "Rates of the second part are shares of what one broker bears by the reference calibration, 0.14 to 0.84; with "
        "another calibration they are other shares.",
        "All consumers are one process, and all providers another one, in both arms. A query costs each of them about "
        "as much as it costs one broker, or more, so part of the rise at these rates is theirs.",
        *slips_at("344", "365"),
    ),
    tell=tell,
)
