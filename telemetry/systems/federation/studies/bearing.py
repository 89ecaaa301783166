"""What a broker bears, by the reference calibration, and rates as shares of it."""

from __future__ import annotations

from typing import Any

from overlay.core.service_times import Costs
from overlay.peers.names import OUT
from overlay.runtime.calibrated import reference
from overlay.systems.federation.names import BROKER, XML_IN, XML_OUT
from overlay.systems.federation.system import SYSTEM

SECOND_US = 1_000_000


def borne_per_s(broker: Costs) -> float:
    """Queries a second with which a broker without neighbours is busy all the time, in the published profile.

    A query is a SUBSCRIBE, answered by ACK and OFFER, and a PUBLISH, answered by ACK and NOTIFY, each of which is
    received alone; OFFER, NOTIFY and the ACK of the provider are acknowledged by a datagram each.
    """
    work = {name: curve.at(0) for name, curve in broker.work_us.items()}
    woken = broker.batch_us + broker.other_us
    visit = woken + 2 * broker.sent_us + work[XML_IN] + work[XML_OUT] + 2 * work[OUT]
    return SECOND_US / (2 * visit + work["in_subscribe"] + work["in_publish"] + 3 * woken)


def with_rates(body: dict[str, Any]) -> dict[str, Any]:
    """A study's definition with whole rates instead of shares: those below 1."""
    borne = borne_per_s(reference().systems[SYSTEM.name].roles[BROKER])
    return {**body, "blocks": [_filled(block, borne) for block in body["blocks"]]}


def _filled(block: dict[str, Any], borne: float) -> dict[str, Any]:
    rates = [rate if rate >= 1 else float(round(rate * borne)) for rate in block["workload"]["rate_per_s"]]
    return {**block, "workload": {**block["workload"], "rate_per_s": rates}}
