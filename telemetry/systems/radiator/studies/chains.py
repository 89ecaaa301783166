"""E3.2: what chains save of the server's traffic, and what their hops cost in lag."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import pairwise

from overlay.core.binary import canonical
from overlay.core.chance import Stream, derive_seed
from overlay.systems.radiator.load.share import places
from overlay.systems.radiator.wire.compression import GZIP, deflate
from telemetry.charts.charts import axis
from telemetry.statistics.intervals import SIGNED
from telemetry.studies.criteria import Intervals, Shown, all_of, are_between, at_least, at_most, between
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Row, Rows, Source, Study, X, mean, where
from telemetry.systems.radiator.studies.arms import (
    BYTES,
    BYTES_AXIS,
    DEFINITIONS,
    EVERYONE,
    LAG,
    LAG_AXIS,
    LESS,
    MORE,
    OVERLOAD,
    SHARES,
    WRITTEN,
    by_the_first_that_holds,
    length,
    of_length,
    ratio,
    saturated,
)

FIG_4, TABLE_4 = Source("Fig. 4 and its text", "366 to 386"), Source("Table 4", "408 to 412")
FALLING = (12, 30, 60, 600)
LAGS = {60: 70 / 42, 600: 74 / 42, 3000: 223 / 42, 6000: 295 / 42}
"""The published lag / that without chains, by clients per chain."""
JUMP = 3.06
"""The geometric middle of the published 1.76 at 600 and 5.31 at 3,000."""
MORE_AT_FIRST = "(12 − 30) − (600 − 6,000)"
DRAWS = 20
Arm = Callable[[Rows], list[Row]]


def _below(rows: Rows) -> list[Row]:
    return where(rows, uplink_share=0)


ARMS: Mapping[str, Arm] = {"equal": _below, **{str(share): partial(saturated, share=share) for share in SHARES}}
NAMES = {"equal": "equal work", **{str(share): f"uplink / {share}" for share in SHARES}}


def _share(arm: Rows, clients: int) -> float:
    """Bytes per pair with so many clients per chain, as a share of those without chains."""
    return ratio(of_length(arm, clients), of_length(arm, 0), BYTES)


def _of(rows: Rows, chosen: Arm, clients: int) -> Quantities:
    return {f"{clients} per chain / no chain": _share(chosen(rows), clients)}


def _falls(rows: Rows, chosen: Arm) -> Quantities:
    """What each step saves, and how much more the first one than that from 600 to 6,000, which may save nothing."""
    arm = chosen(rows)
    found = {clients: _share(arm, clients) for clients in FALLING}
    steps = {f"{a} − {b} per chain": found[a] - found[b] for a, b in pairwise(FALLING)}
    if not of_length(arm, 6000):
        return steps
    return {**steps, MORE_AT_FIRST: found[12] - found[30] - (found[600] - _share(arm, 6000))}


def _saves_ever_less(figures: Intervals) -> tuple[Shown, Shown]:
    fall = all_of(at_least(one, 1e-9) for name, one in figures.items() if name != MORE_AT_FIRST)
    more = at_least(figures[MORE_AT_FIRST], 1e-9) if MORE_AT_FIRST in figures else None
    return all_of((fall, more)), fall


def _lags(rows: Rows, chosen: Arm) -> Quantities:
    """Of the chains that were run, and from each to the next one."""
    arm = chosen(rows)
    found = {
        clients: ratio(of_length(arm, clients), of_length(arm, 0), LAG) for clients in LAGS if of_length(arm, clients)
    }
    steps = {f"{longer} / {shorter} per chain": found[longer] / found[shorter] for shorter, longer in pairwise(found)}
    return {**{f"{clients} per chain / no chain": lag for clients, lag in found.items()}, **steps}


def _as_published(figures: Intervals) -> tuple[Shown, Shown]:
    """What was not run is neither shown nor refuted."""
    found = {clients: figures.get(f"{clients} per chain / no chain") for clients in LAGS}
    near = [
        None if one is None else between(one, 0.8 * LAGS[clients], 1.2 * LAGS[clients])
        for clients, one in found.items()
    ]
    short, long = found[600], found[3000]
    jump = (None if short is None else at_most(short, JUMP), None if long is None else at_least(long, JUMP))
    steps = [at_least(one, 1.0) for name, one in figures.items() if name.endswith("per chain")]
    return all_of(near), all_of((*steps, *jump))


def _compressed(rows: Rows) -> Quantities:
    row = rows[0]
    return {
        "chain of 100 / of 10": _size(100, row.workload["clients"], row.seed)
        / _size(10, row.workload["clients"], row.seed)
    }


@cache
def _size(members: int, clients: int, seed: int) -> float:
    """Bytes of a compressed chain alone, mean of some draws."""
    chance = Stream(derive_seed(seed, "chains", members))
    drawn = (chance.sample(range(clients), members) for _ in range(DRAWS))
    return sum(len(deflate(canonical(places(numbers)), GZIP)) for numbers in drawn) / DRAWS


def _of_bytes(arm: str) -> tuple[Claim, ...]:
    chosen, name = ARMS[arm], NAMES[arm]
    return (
        Claim(
            f"R7-{arm}",
            f"Chains of 12 save 26 % of the server's traffic ({name}).",
            "Bytes per pair with 12 clients per chain / without chains is from 0.69 to 0.79.",
            "It is below 1.",
            partial(_of, chosen=chosen, clients=12),
            are_between(0.69, 0.79, (0.0, LESS)),
            WRITTEN,
            published={"12 per chain / no chain": 0.74},
            source=FIG_4,
        ),
        Claim(
            f"R8-{arm}",
            f"Chains of 600 leave 4.4 % of it ({name}).",
            "Bytes per pair with 600 clients per chain / without chains is from 0.034 to 0.054.",
            "It is at most 0.10.",
            partial(_of, chosen=chosen, clients=600),
            are_between(0.034, 0.054, (0.0, 0.10)),
            WRITTEN,
            published={"600 per chain / no chain": 0.044},
            source=FIG_4,
        ),
        Claim(
            f"R9-{arm}",
            f"Longer chains save ever less ({name}).",
            "Bytes per pair fall from 12 to 30, 60 and 600 per chain, and more from 12 to 30 than from 600 to 6,000.",
            "They fall from 12 to 30, 60 and 600.",
            partial(_falls, chosen=chosen),
            _saves_ever_less,
            WRITTEN,
            "share",
            SIGNED,
            source=Source("Fig. 4 and its text", "380"),
        ),
    )


CLAIMS = (
    *(claim for arm in ARMS for claim in _of_bytes(arm)),
    *(
        Claim(
            f"R10-{share}",
            f"Lag grows with the length of chains, and most from 600 to 3,000 (uplink / {share}).",
            "Mean lag with 60, 600, 3,000 and 6,000 per chain / without chains is within 20 % of 1.67, 1.76, 5.31 and "
            "7.02.",
            f"It does not fall with length, and is below {JUMP} at 600 and above at 3,000.",
            partial(_lags, chosen=ARMS[str(share)]),
            _as_published,
            WRITTEN,
            published={f"{clients} per chain / no chain": value for clients, value in LAGS.items()},
            source=TABLE_4,
        )
        for share in SHARES
    ),
    Claim(
        "R11",
        "A compressed chain of 100 is five times as long as one of 10.",
        "The ratio of their bytes, the chain alone, is from 4 to 6.",
        "It is above 1 and below 10.",
        _compressed,
        are_between(4.0, 6.0, (MORE, 10 * LESS)),
        WRITTEN,
        published={"chain of 100 / of 10": 5.0},
        source=Source("Section 3.2", "262"),
    ),
)


def _by_length(rows: Rows, measure: str) -> Mapping[tuple[str, X], Quantity]:
    found: dict[tuple[str, X], Quantity] = {}
    for arm, chosen in ARMS.items():
        own = chosen(rows)
        for clients in sorted({length(row) for row in own}):
            found[NAMES[arm], f"{clients:,}" if clients else "no chain"] = mean(of_length(own, clients), measure)
    return found


CHAIN_STUDY = Study(
    "E3.2",
    "Chains",
    "What do chains save of the server's traffic, and what do their hops cost in lag?",
    DEFINITIONS / "chains.yaml",
    (
        Plot(
            "bytes",
            "Bytes per pair by clients per chain",
            axis("Clients per chain"),
            BYTES_AXIS,
            partial(_by_length, measure=BYTES),
        ),
        Plot(
            "lag",
            "Mean lag by clients per chain",
            axis("Clients per chain"),
            LAG_AXIS,
            partial(_by_length, measure=LAG),
        ),
    ),
    by_the_first_that_holds(CLAIMS),
    names=("E3.2-equal", "E3.2-saturated"),
    says="Chains of 12 save 26 % of the traffic, chains of 600 leave 4.4 % of it; lag grows from 42 s to 74 s, and to "
    "295 s with chains of 6,000.",
    sources=(FIG_4, TABLE_4),
    limits=(
        EVERYONE,
        OVERLOAD,
        "Chains are compared by clients per chain. A hop takes 10 ± 2 ms; Table 4 implies 15 to 124 ms.",
    ),
)
