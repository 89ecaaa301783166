"""From what was measured to the service-time model. Pure.

Counterparts: ``probes`` measured costs, ``stages`` legs, ``overlay.core.service_times`` is the model. No parameter is
searched for: each is what was measured, or a difference of two. Of costs those of the cheapest turn, since what else
runs on a machine only adds, and all of one turn, since they are told apart by differences; of those after a rest the
median, since how deep a processor sleeps then is what is asked; of legs the median. A leg is the service of who sent
it, which ``probes`` tell, and the delivery to who received it, which is the rest::

    relayed = relaying                  + to_client(since it asked)
    last    = answering    + cold(idle) + to_client(since it asked)      which gives cold(idle)
    back    = answering on + cold(idle) + between(short)
    hop     = passing on   + cold(idle) + between(idle)
    first   =                             to_broker(idle)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from overlay.core.curves import RANKS, Curve, Delays, constant
from overlay.core.service_times import Costs, Deliveries, Memory
from overlay.systems.context_broker.system import SYSTEM
from overlay.systems.context_broker.wire.extensions import QuietRequest
from overlay.systems.context_broker.wire.messages import (
    ContextRequest,
    ContextResponse,
    ContextUpdateAdvertisement,
    Ping,
)
from telemetry.calibration.plan import Fitted
from telemetry.errors import TelemetryError
from telemetry.statistics.metrics import Numbers
from telemetry.systems.context_broker.calibration.probes import (
    ENTRIES,
    HALTED,
    LARGE,
    RESTS_S,
    SMALL,
    USUAL,
    Turns,
    is_rested,
    rested,
)
from telemetry.systems.context_broker.calibration.stages import FAST, FAST_QUIET, Stages

LEAST = 10
"""Requests of a pace below which its legs are left out."""
BROKER_ROLE = SYSTEM.role_names[0]
CLIENT_ROLES = tuple(role.processes for role in SYSTEM.client_roles.values())
CLIENT_DIGITS = 3
"""After the point, of a client's microseconds."""
DIGITS = 4
"""After the point, of microseconds: below what any clock here tells."""
NAMES_BYTES = 90
"""Approximate size of a Response without its payload; about one per cent of what it is used for."""
WARM_S = 0.0001
"""From one message of the probes to the next, roughly, in which a broker slept."""
ANSWER_ON = "traced: quiet"
"""A request of another broker is answered with the Response alone, as a quiet one is."""


def fit(costs: Turns, memory: Mapping[str, Sequence[float]], runs: Mapping[str, Stages]) -> Fitted:
    """The costs of brokers and clients, and the deliveries. Raises ``TelemetryError``."""
    known = _taken(costs)
    service, below_nothing = _service(known)
    acknowledged = {name: stages for name, stages in runs.items() if len(stages.last) >= LEAST and name != FAST_QUIET}
    if not any(len(stages.hop) >= LEAST for stages in acknowledged.values()):
        raise TelemetryError("Too few traced requests were answered to tell how long they take; calibrate for longer.")
    back_to_client = _level("relayed", acknowledged, known["traced: passed on and back"] - known["traced: passed on"])
    cold = _cold(acknowledged, known["traced: request"], back_to_client)
    quiet, full = runs[FAST_QUIET].fleet_us, runs[FAST].fleet_us
    receives = max(0.0, (full - quiet) / 2)
    # Whole nanoseconds, so that the costs of a batch are exactly the sum of those of its datagrams.
    client = Costs(
        batch_us=0.0, other_us=round(receives, CLIENT_DIGITS), sent_us=round(max(0.0, quiet - receives), CLIENT_DIGITS)
    )
    return Fitted(
        {
            BROKER_ROLE: Costs(**service, cold_us=cold, memory=_memory(memory)),
            **dict.fromkeys(CLIENT_ROLES, client),
        },
        Deliveries(
            to_server=_level("first", acknowledged),
            between=_between(acknowledged, known, cold),
            to_client=back_to_client,
            timer=_level("timer", acknowledged),
        ),
        {"costs": _precision(costs, known), "below_nothing": below_nothing, "stages": _stages(runs)},
    )


def _memory(measured: Mapping[str, Sequence[float]]) -> Memory:
    found = {name: max(0.0, _median(values)) for name, values in measured.items()}
    idle = {name: found[name] for name in ("idle_rss", "idle_pss", "idle_uss")}
    return Memory(**idle, kept={"bytes": 1.0, "entries": found["per_entry"], "pending": found["per_pending"]})


def _taken(costs: Turns) -> dict[str, float]:
    """Of each kind what counts, as said above."""
    together: dict[str, list[str]] = {}
    for name in costs:
        together.setdefault(name.partition(":")[0] if ":" in name else "scans", []).append(name)
    taken: dict[str, float] = {}
    for names in together.values():
        turns = list(zip(*(costs[name] for name in names if not is_rested(name)), strict=True))
        cheapest = min(range(len(turns)), key=lambda turn: sum(turns[turn]))
        taken |= {name: _median(costs[name]) if is_rested(name) else costs[name][cheapest] for name in names}
    return taken


def _service(known: Mapping[str, float]) -> tuple[dict[str, Any], list[str]]:
    """The costs of the model, and which of them came out below nothing and are taken as nothing."""
    below: list[str] = []

    def at_least_nothing(name: str, us: float) -> float:
        if us < 0:
            below.append(name)
        return max(0.0, us)

    sent = at_least_nothing("sent_us", (known["usual: request"] - known["usual: quiet"]) / 2)
    awake = (known["usual: ping"] - known["usual: ping, halted"]) * HALTED / (HALTED - 1)
    batch = at_least_nothing("batch_us", awake)
    grown = (known["usual: quiet, large"] - known["usual: quiet, small"]) * 1000 / (LARGE - SMALL)
    kilobyte = at_least_nothing("kilobyte_us", grown)
    usual = kilobyte * (USUAL + NAMES_BYTES) / 1000
    passed_on = known["usual: passed on"]
    handled = {
        Ping: known["usual: ping"] - batch - sent,
        ContextUpdateAdvertisement: known["usual: update"] - batch - 2 * sent - usual,
        ContextRequest: known["usual: quiet"] - batch - sent - usual,
        ContextResponse: known["usual: passed on and back"] - passed_on - batch - 2 * sent - 2 * usual,
    }
    received = {
        message.__name__: at_least_nothing(f"received_us.{message.__name__}", us) for message, us in handled.items()
    }
    other = float(np.mean(list(received.values())))
    asked = received[QuietRequest.__name__] = received[ContextRequest.__name__]
    scanned = _by_rest("scanned", known)
    both = _by_rest("matched", known)
    matched = [max(0.0, all_of_it - scan) for all_of_it, scan in zip(both, scanned, strict=True)]
    slept = (WARM_S, *RESTS_S)
    scan = known["scanned 0"] - known["usual: quiet"] - scanned[0] - matched[0]  # of two brokers
    forwarded = at_least_nothing("extra_us", passed_on - batch - asked - 2 * sent)
    service = {
        "batch_us": batch,
        "sent_us": sent,
        "kilobyte_us": kilobyte,
        "received_us": received,
        "other_us": other,
        "extra_us": {message.__name__: forwarded for message in (ContextRequest, QuietRequest)},
        "work_us": {
            "scans": constant(max(0.0, scan)),
            "compared": Curve(slept, tuple(scanned)),
            "matched": Curve(slept, tuple(matched)),
        },
    }
    return service, below


def _by_rest(what: str, known: Mapping[str, float]) -> list[float]:
    """Of an entry, warm and after each of ``RESTS_S``."""
    few, many = ENTRIES
    pairs = [(f"{what} {many}", f"{what} {few}")]
    pairs += [(rested(what, many, rest_s), rested(what, few, rest_s)) for rest_s in RESTS_S]
    return [max(0.0, (known[full] - known[empty]) / (many - few)) for full, empty in pairs]


def _cold(runs: Mapping[str, Stages], answering: float, to_client: Delays) -> Curve:
    """How much longer than warm a broker took to answer, by how long it had slept. Probed ones were warm."""
    found = {WARM_S: 0.0}
    for stages in runs.values():
        answered_us = float(np.median(stages.last[:, 1]))
        waited_ns = round(1000 * (np.median(stages.first[:, 1]) + answered_us))
        delivery = to_client.ns(waited_ns, 0.5) / 1000
        found[_idle(stages.last)] = max(0.0, answered_us - answering - delivery)
    idle = sorted(found)
    return Curve(tuple(idle), tuple(found[one] for one in idle))


def _between(runs: Mapping[str, Stages], known: Mapping[str, float], cold: Curve) -> Delays:
    """Levels of the hop that wakes the holder, and one of the way back, to a broker that had just passed on."""
    rows: dict[float, Numbers] = {}
    short, slept = [], []
    for stages in runs.values():
        if len(stages.hop) < LEAST:
            continue
        idle = _idle(stages.hop)
        extra = cold.at(round(idle * 1e9))
        rows[idle] = stages.hop[:, 1] - known["traced: passed on"] - extra
        short.append(stages.back_us - known[ANSWER_ON] - extra)
        slept.append(float(np.median(stages.hop[:, 1] + stages.back_us)) / 1e6)
    rows[round(min(slept), 6)] = short[int(np.argmin(slept))]
    return _delays(rows)


def _level(leg: str, runs: Mapping[str, Stages], service: float = 0.0) -> Delays:
    """The distribution of a leg at each pace, less the service in it."""
    tables = [getattr(stages, leg) for stages in runs.values()]
    return _delays({_idle(table): table[:, 1] - service for table in tables if len(table) >= LEAST})


def _delays(rows: Mapping[float, Numbers]) -> Delays:
    idle = sorted(rows)
    quantiles = [np.quantile(np.maximum(rows[one], 0.0), RANKS) for one in idle]
    return Delays(tuple(idle), tuple(tuple(round(float(value), DIGITS) for value in row) for row in quantiles))


def _idle(table: Numbers) -> float:
    return round(float(np.nanmedian(table[:, 0])), 6)


def _median(values: Any) -> float:
    return round(float(np.median(np.asarray(values))), DIGITS)


def _precision(costs: Turns, known: Mapping[str, float]) -> dict[str, Any]:
    """Of each kind of message what was taken and the range of its turns: so few have no interval worth the name."""
    return {
        name: {
            "us": known[name],
            "low": min(values),
            "median": _median(values),
            "high": max(values),
            "turns": len(values),
        }
        for name, values in costs.items()
    }


def _stages(runs: Mapping[str, Stages]) -> list[dict[str, Any]]:
    """Of each leg at each pace the median with its 95 % interval."""
    found = []
    for pace, stages in runs.items():
        legs = {
            "timer": stages.timer[:, 1],
            "first": stages.first[:, 1],
            "last": stages.last[:, 1],
            "hop": stages.hop[:, 1],
            "back": stages.back_us,
            "relayed": stages.relayed[:, 1],
        }
        for leg, values in legs.items():
            if len(values):
                low, high = median_interval(values)
                found.append(
                    {"pace": pace, "leg": leg, "us": _median(values), "low": low, "high": high, "n": len(values)}
                )
    return found


def median_interval(values: Any) -> tuple[float, float]:
    """The 95 % interval of a median, between two of the values: as many are below it as a fair coin shows heads."""
    ordered = np.sort(np.asarray(values, np.float64))
    middle, half = len(ordered) / 2, 0.98 * np.sqrt(len(ordered))
    low, high = max(0, int(middle - half)), min(len(ordered) - 1, int(middle + half))
    return float(ordered[low]), float(ordered[high])
