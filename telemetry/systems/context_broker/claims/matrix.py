"""Which runs are of the published matrix, told by what they ran and not by a name, and what they say. Pure.

Three definitions in ``docs/examples`` make them. All run under the prototype's settings and differ in nothing else than
what is written here:

::

    short   published-matrix.yaml    the 251 configurations of Table B.1, 180 s
    long    published-anchors.yaml   some of them for 900 s
    rare    published-rare.yaml      some of them with the data on one broker alone, and no replicas, 180 s
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from statistics import fmean
from typing import Any

from overlay.core.engines import CALIBRATED, SIMULATED
from overlay.core.settings import SettingInfo
from overlay.systems.context_broker.profiles import PROFILES, resolved
from overlay.systems.registry import SYSTEMS
from telemetry.systems.context_broker.published import FACTORS, Published, same, table_b1

SYSTEM = "context-broker"
SHORT, LONG, RARE = "short", "long", "rare"
PARTS = (SHORT, LONG, RARE)
SHORT_S, LONG_S = 180.0, 900.0
PAYLOAD_BYTES, STAGGER_MS = 1024, 19
"""A ramp of 20 s at a thousand clients."""

DISTRIBUTED = ("ring", "full-mesh", "waxman")
FEW, SOME, MOST = 50, 500, 1000
FOUR, TEN = 4, 10
"""Brokers of the small ring, and of the others."""
USUAL_S = 30.0
"""The request interval of the thesis' figures."""
MODERATE_LINKS = 10
"""Of the moderate topology: average connectivity 2."""


@dataclass(frozen=True, slots=True)
class Found:
    """One collected run of a configuration of the table. Bytes are a broker's."""

    config: int
    """Its number in Table B.1."""
    seed: int
    response_us: float
    """Mean response time, from the intended sending."""
    memory_bytes: float
    """Whole, the share of what brokers have in common included (PSS)."""
    over_idle_bytes: float
    """Of that, what is beyond an idle broker's."""
    rss_bytes: float = 0.0
    """All that is resident, what brokers have in common counted for each."""
    table_bytes: float = 0.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run belongs."""

    part: str
    config: int


def place_of(configuration: Mapping[str, Any]) -> Place | None:
    """Of a configuration in full, as a run or a manifest keeps it; ``None`` for one that is none of the matrix."""
    row = same(configuration["topology"]["kind"], configuration["topology"]["brokers"], configuration["workload"])
    if row is None or not _is_plain(configuration) or configuration["system"] != SYSTEM:
        return None
    for part in PARTS:
        if _fits(configuration["settings"], configuration["workload"], part):
            return Place(part, row.config)
    return None


def _is_plain(configuration: Mapping[str, Any]) -> bool:
    """Without faults, recording and shaped links, of the moderate topology's density, and with times that are taken."""
    topology = configuration["topology"]
    links = topology["links"]
    shaped = any(value for link in links for name, value in link.items() if name not in ("a", "b"))
    if shaped or configuration.get("faults") or configuration.get("record_mb"):
        return False
    if topology["kind"] == "waxman" and len(links) != MODERATE_LINKS:
        return False
    times = (configuration.get("simulation") or {}).get("service_times", CALIBRATED)
    return bool(configuration.get("engine") != SIMULATED or times == CALIBRATED)


def _fits(settings: Mapping[str, Any], workload: Mapping[str, Any], part: str) -> bool:
    system = SYSTEMS[SYSTEM]
    wanted = {**PROFILES["prototype"], **({"replication": "none"} if part == RARE else {})}
    asked = {
        "payload_bytes": PAYLOAD_BYTES,
        "stagger_ms": STAGGER_MS,
        "holders": 1 if part == RARE else 0,
        "duration_s": LONG_S if part == LONG else SHORT_S,
    }
    fields = [info for info in system.workload if info.name not in FACTORS]
    return _alike(resolved(settings), wanted, system.settings) and _alike(workload, asked, fields)


def _alike(given: Mapping[str, Any], wanted: Mapping[str, Any], infos: Iterable[SettingInfo]) -> bool:
    """What is not named in either has its default, so that a run from before a setting came is recognised."""
    return all(
        given.get(info.name, info.default) == wanted.get(info.name, info.default)
        for info in infos
        if info.name != "profile"
    )


def found_in(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> tuple[str, Found] | None:
    """What a collected run says, and of which part; ``None`` where it is not of the matrix, or nothing was answered."""
    place = place_of(manifest)
    if place is None or summary["mean_us"] is None:
        return None
    memory = summary["memory"]["mean"]
    found = Found(
        place.config,
        manifest["seed"],
        summary["mean_us"],
        memory["pss_bytes"] or 0.0,
        memory["over_idle_bytes"] or 0.0,
        memory["rss_bytes"] or 0.0,
        memory["table_bytes"] or 0.0,
    )
    return place.part, found


# ---- the values of one seed


@dataclass(frozen=True)
class Cells:
    """The values of one seed, or of the table itself, by configuration."""

    response: Mapping[int, float]
    memory: Mapping[int, float]
    over_idle: Mapping[int, float] = field(default_factory=dict)
    rss: Mapping[int, float] = field(default_factory=dict)
    table: Mapping[int, float] = field(default_factory=dict)
    rare: Mapping[int, float] = field(default_factory=dict)
    """Response times with the data on one broker alone."""


def by_seed(found: Iterable[Found], rare: Iterable[Found] = ()) -> list[Cells]:
    """In the order of seeds; ``rare`` are runs of that part."""
    usual: dict[int, list[Found]] = defaultdict(list)
    alone: dict[int, list[Found]] = defaultdict(list)
    for kept, runs in ((usual, found), (alone, rare)):
        for one in runs:
            kept[one.seed].append(one)
    return [_cells(usual[seed], alone[seed]) for seed in sorted({*usual, *alone})]


def _cells(runs: Collection[Found], rare: Collection[Found]) -> Cells:
    def of(name: str) -> dict[int, float]:
        return {one.config: getattr(one, name) for one in runs}

    return Cells(
        response=of("response_us"),
        memory=of("memory_bytes"),
        over_idle=of("over_idle_bytes"),
        rss=of("rss_bytes"),
        table=of("table_bytes"),
        rare={one.config: one.response_us for one in rare},
    )


@cache
def published_cells() -> Cells:
    """Table B.1 itself. It says nothing of what is beyond an idle broker, nor of the memory of four."""
    kept = [row for row in table_b1() if row.is_whole or row.brokers == FOUR]
    return Cells(
        {row.config: row.response_us for row in kept if row.response_us is not None},
        {row.config: row.memory_kb * 1000 for row in kept if row.memory_kb is not None},
    )


def configs(**wanted: Any) -> list[Published]:
    """Rows of the table whose fields are these."""
    return [row for row in table_b1() if all(getattr(row, name) == value for name, value in wanted.items())]


def central(values: Mapping[int, float], providers: int, consumers: int) -> float:
    """V3 at these numbers of clients."""
    [row] = configs(topology="central", providers=providers, consumers=consumers)
    return values[row.config]


def distributed(
    values: Mapping[int, float], providers: int, consumers: int, topologies: Collection[str] = DISTRIBUTED
) -> float:
    """V4 at these: the mean over topologies and update intervals, at the usual request interval.

    A row that the scan damaged is left out of the table's own mean.
    """
    rows = [
        row
        for topology in topologies
        for row in configs(
            topology=topology, brokers=TEN, providers=providers, consumers=consumers, request_interval_s=USUAL_S
        )
    ]
    return mean(values, rows)


def mean(values: Mapping[int, float], rows: Iterable[Published]) -> float:
    """Over rows that have a value; where a whole row lacks one, it is missing. Raises ``KeyError``."""
    known = []
    for row in rows:
        if row.config in values:
            known.append(values[row.config])
        elif row.is_whole:
            raise KeyError(row.config)
    return fmean(known)


def ratio(one: float, other: float) -> float:
    """Of nothing there is no ratio: a model without memory says nothing of it. Raises ``KeyError``."""
    if not other:
        raise KeyError("nothing")
    return one / other
