"""E1.3, Fig. 13: energy of a query on the mobile device. A model: its constants and assumptions carry the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from overlay.systems.federation.energy.models import LABELS, MODELS
from telemetry.charts.charts import axis
from telemetry.statistics.intervals import SIGNED
from telemetry.studies.judging import Result
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Row, Rows, Study, X, where
from telemetry.systems.federation.published import find, slips_at
from telemetry.systems.federation.studies import criteria
from telemetry.systems.federation.studies.cells import DEFINITIONS, WRITTEN, only, rates
from telemetry.systems.federation.studies.telling import series

ENERGY = "energy_per_query"
MODES = {
    criteria.NO_BROKER: {"device": "none"},
    criteria.HTTP: {"device": "mcxb", "bulk": "off", "local_interface": "http"},
    criteria.BULK: {"device": "mcxb", "bulk": "on", "local_interface": "http"},
    criteria.BULK_IPC: {"device": "mcxb", "bulk": "on", "local_interface": "ipc"},
    "mcxb-ipc": {"device": "mcxb", "bulk": "off", "local_interface": "ipc"},
}
"""No broker on the device; one, reached by HTTP or IPC, with or without bulk."""
JUDGED = tuple(MODES)[:4]
"""The paper's four; a broker by IPC without bulk is ours."""
RATES = (10.0, 30.0, 60.0)
SAVING = find("e1_3", "reduction of energy of a query")
SOURCE = find("e1_3", "energy of a query", "MCxB, HTTP against none").source


def _cell(rows: Rows, model: str, rate: float, mode: str) -> Row:
    return only(where(rows, energy_model=model, rate_per_s=rate, **MODES[mode]))


def _energies(rows: Rows, model: str, rate: float) -> Quantities:
    found = {mode: _cell(rows, model, rate, mode) for mode in JUDGED}
    energies = {mode: row.measures[ENERGY] for mode, row in found.items()}
    return {**energies, criteria.UNSATISFIED: sum(row.measures["unsatisfied"] for row in found.values())}


def _left(rows: Rows, model: str, rate: float) -> Quantities:
    none, ipc = (_cell(rows, model, rate, mode).measures[ENERGY] for mode in (criteria.NO_BROKER, criteria.BULK_IPC))
    return {criteria.LEFT: ipc / none}


def _by_mode(rows: Rows, model: str) -> Mapping[tuple[str, X], Quantity]:
    own = where(rows, energy_model=model)
    return {
        (f"{rate:g} queries/s", mode): _cell(own, model, rate, mode).measures[ENERGY]
        for rate in rates(own)
        for mode in MODES
    }


def tell(result: Result) -> Sequence[str]:
    said = []
    for model in MODELS:
        for rate in RATES:
            found = series(result, f"13-{model}", f"{rate:g} queries/s")
            if criteria.NO_BROKER in found and criteria.BULK_IPC in found:
                saved = 1 - found[criteria.BULK_IPC] / found[criteria.NO_BROKER]
                share = f"{100 * saved:.0f} %"
                said.append(
                    f"In the model {model}, a broker on the device with bulk and IPC saves {share} of the energy at "
                    f"{rate:g} queries per second; published are about {SAVING.value} %."
                )
    return said


def _of(model: str, rate: float) -> tuple[Claim, Claim, Claim]:
    at = f"in the model {model} at {rate:g} queries/s"
    measure = partial(_energies, model=model, rate=rate)
    return (
        Claim(
            f"fig-13-{model}-{rate:g}",
            f"A broker on the device saves energy, bulk costs a little, and with IPC about 30 % are saved ({at}).",
            "I: mcxb is below none. J: bulk is above mcxb, by at most 15 %. K: bulk-ipc / none is from 0.65 to 0.75.",
            "bulk-ipc is below mcxb and mcxb below none, and bulk is above mcxb.",
            measure,
            criteria.alone(criteria.saves_as_published, criteria.keeps_order, criteria.OF_ENERGY),
            WRITTEN,
            "J",
            SIGNED,
            source=SOURCE,
            units=criteria.UNITS,
        ),
        Claim(
            f"L-{model}-{rate:g}",
            f"Repetitions are within ± 3 % ({at}).",
            "Every repetition is within 3 % of the mean of its mode.",
            "The same.",
            measure,
            criteria.alone(criteria.repeats, replicates=criteria.OF_ENERGY),
            WRITTEN,
            "J",
            SIGNED,
            source=find("setup", "spread of repetitions").source,
            units=criteria.UNITS,
        ),
        Claim(
            f"K-{model}-{rate:g}",
            f"With bulk and IPC about 30 % of the energy are saved ({at}).",
            "bulk-ipc / none is from 0.65 to 0.75.",
            "The same.",
            partial(_left, model=model, rate=rate),
            criteria.alone(criteria.is_about_70, replicates=criteria.OF_ENERGY),
            WRITTEN,
            "ratio",
            SIGNED,
            published={criteria.LEFT: 1 - SAVING.number / 100},
            source=SAVING.source,
        ),
    )


ENERGY_STUDY = Study(
    "E1.3",
    "Energy of a query",
    "Does a broker on the mobile device save its energy, and what do bulk and the local interface add?",
    DEFINITIONS / "energy.yaml",
    tuple(
        Plot(
            f"13-{model}",
            f"Energy of a query by mode, {LABELS[model]}",
            axis("Mode"),
            axis("Energy of a query", "J", zero=True),
            partial(_by_mode, model=model),
            source=SOURCE,
        )
        for model in MODELS
    ),
    tuple(claim for model in MODELS for rate in RATES for claim in _of(model, rate)),
    names=("E1.3-energy",),
    says="A mobile broker needs less energy than none, bulk a little more than that by HTTP, and bulk by IPC about "
    "30 % less than none.",
    sources=(SOURCE,),
    limits=(
        "Energy is modelled, of the device only: radio by its traffic, processor by its work.",
        "The model powertutor has the constants of PowerTutor's source code, for a Nexus One.",
        "The model transfer has constants from memory of its paper, not checked against it.",
        *slips_at("294", "306", "340"),
    ),
    tell=tell,
)
