"""E0.10: where the microseconds of figure 4.4 are spent."""

from __future__ import annotations

from collections.abc import Mapping

from telemetry.charts.charts import axis
from telemetry.statistics.intervals import SIGNED
from telemetry.studies.criteria import Intervals, Shown, all_of, are_at_least, at_most
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Rows, Source, Study, X, mean, where
from telemetry.systems.context_broker.studies.figures import DEFINITIONS, HARDWARE
from telemetry.systems.context_broker.studies.table import CENTRAL, FEW, MOST, RESPONSE, TODAY

FROM_SENT = "mean_from_sent"
SERIES = {CENTRAL: CENTRAL, "ring": "ring"}
PARTS = ("client wakes late", "queue", "linear scan", "hops between brokers", "exchange itself")
"""Of the mean response time with 1,000 providers and 1,000 consumers."""


def _parts(rows: Rows, topology: str) -> dict[str, float]:
    """What each part takes, µs: by what response time changes where it alone is taken away. Raises ``KeyError``."""

    def at(measure: str, where_: str, table: str, clients: int) -> float:
        return mean(where(rows, topology=where_, table=table, providers=clients, consumers=clients), measure)

    whole, sent = (at(measure, topology, "linear", MOST) for measure in (RESPONSE, FROM_SENT))
    indexed, few = (at(FROM_SENT, topology, "indexed", clients) for clients in (MOST, FEW))
    alone = at(FROM_SENT, CENTRAL, "indexed", FEW)
    taken = (whole - sent, indexed - few, sent - indexed, few - alone, alone)
    return dict(zip(PARTS, taken, strict=True))


def _drawn(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    return {(topology, part): taken for topology in SERIES for part, taken in _parts(rows, topology).items()}


def _share(rows: Rows, topology: str, part: str) -> float:
    found = _parts(rows, topology)
    return found[part] / sum(found.values())


def _scan(rows: Rows) -> Quantities:
    return {"linear scan, one central broker": _share(rows, CENTRAL, "linear scan")}


def _queue(rows: Rows) -> Quantities:
    return {f"queue, {topology}": _share(rows, topology, "queue") for topology in SERIES}


def _is_small(figures: Intervals) -> tuple[Shown, Shown]:
    ends = list(figures.values())
    return all_of(at_most(one, 0.1) for one in ends), all_of(at_most(one, 0.25) for one in ends)


def _indexing(rows: Rows) -> Quantities:
    many = where(rows, topology=CENTRAL, providers=MOST, consumers=MOST)
    few = where(rows, topology=CENTRAL, providers=FEW, consumers=FEW)
    grows = {
        name: mean(where(many, table=name), RESPONSE) / mean(where(few, table=name), RESPONSE)
        for name in ("linear", "indexed")
    }
    return {"growth with clients, linear / indexed": grows["linear"] / grows["indexed"]}


ATTRIBUTION = Study(
    "E0.10",
    "Attribution",
    "Why do answers of one central broker become slower with more clients: queue, lock, linear scan or hops?",
    DEFINITIONS / "attribution.yaml",
    (
        Plot(
            "parts",
            "Parts of mean response time, 1,000 providers and 1,000 consumers, 30 s between requests",
            axis("Part"),
            axis("Mean response time", "µs", zero=True),
            _drawn,
            SIGNED,
        ),
    ),
    (
        Claim(
            "scan-explains",
            "Not claimed: the linear scan of the table makes the central broker slow.",
            "At 1,000 providers and 1,000 consumers it takes at least half of the central broker's mean response time.",
            "It takes at least a quarter.",
            _scan,
            are_at_least(0.5, 0.25),
            TODAY,
            "share of response time",
            SIGNED,
        ),
        Claim(
            "queue-does-not",
            "Not claimed: queueing does not, because so few requests keep no broker busy.",
            "The queue takes at most a tenth of mean response time, of one central broker and of a ring of ten.",
            "It takes at most a quarter.",
            _queue,
            _is_small,
            TODAY,
            "share of response time",
            SIGNED,
        ),
        Claim(
            "index-removes-growth",
            "Not claimed: with an index the central broker does not grow slower.",
            "How mean response time grows from 50 and 50 clients to 1,000 and 1,000, linear / indexed, is at least 2.",
            "It is at least 1.15.",
            _indexing,
            are_at_least(2.0, 1.15),
            TODAY,
        ),
    ),
    "The thesis names threads, accesses to the data table, and requests of other brokers, but measured none alone.",
    (
        Source(
            "Section 4.3.1", "774", "accesses to the data table are being made and requests are also being forwarded"
        ),
    ),
    limits=(
        HARDWARE,
        "A broker here has one thread and no lock, so waiting for a lock takes no time. A part is a difference of "
        "means; it is negative if it is smaller than the effect of clients' idle time at the smaller load.",
    ),
)
