"""What a comparison was asked for, as its address says it: the same on the page, in REST and on the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import QueryDict

from overlay.core.errors import InvalidSetting
from telemetry.measures import Measure
from telemetry.reports.grouping import AGGREGATES
from telemetry.systems.registry import measures

CHARTS = {
    "lines": "Lines",
    "box": "Boxes",
    "ecdf": "Distribution",
    "heat": "Heat map",
    "difference": "Differences",
}
DEFAULT_METRIC = "p95"
ANSWERED = "answer_ratio"
"""Without it a response time says nothing of the requests that got no answer."""
MOST_METRICS = 6
"""The first is drawn; all are columns of the table."""
MOST_BY = 2
MOST_RUN_IDS = 500
"""Of runs named one by one: as many as fit into an address."""
MOST_DISTRIBUTIONS = 12
LONGEST_FILTER = 2_000


@dataclass(frozen=True)
class Asked:
    """One comparison."""

    q: str | None = None
    """Which runs, in the filter language; ``None`` where nothing was asked for."""
    runs: tuple[str, ...] = ()
    metrics: tuple[str, ...] = (DEFAULT_METRIC,)
    x: str = ""
    """The parameter along the axis; empty for the one that suits."""
    y: str = ""
    """The parameter down the heat map; empty for the one that suits."""
    by: tuple[str, ...] = ()
    """Parameters to group by; none: all but the seed."""
    aggregate: str = "mean"
    baseline: str = ""
    """The hash of a configuration, or a filter of the baseline's runs."""
    chart: str = ""
    log: bool | None = None
    raw: bool = True
    sort: str = ""
    configurations: tuple[str, ...] = ()
    """Whose distributions are drawn; none: the first of the table."""

    @property
    def is_anything(self) -> bool:
        return self.q is not None or bool(self.runs)

    @property
    def measure(self) -> Measure:
        """The one that is drawn and held against the baseline."""
        return measures()[self.metrics[0]]

    @property
    def columns(self) -> tuple[str, ...]:
        """What the table has of each group: the figures, and behind the first response time the share that has one."""
        times = [at for at, name in enumerate(self.metrics) if measures()[name].is_response]
        if not times or ANSWERED in self.metrics[: times[0]]:
            return self.metrics
        rest = [name for name in self.metrics[times[0] + 1 :] if name != ANSWERED]
        return (*self.metrics[: times[0] + 1], ANSWERED, *rest)

    @property
    def measures(self) -> list[Measure]:
        return [measures()[name] for name in self.columns]

    @property
    def middle(self) -> str:
        """What is shown of the replicates, in words: of the measure that is drawn."""
        return self._middle(self.measure)

    @property
    def middles(self) -> str:
        """Of all that stand in the table."""
        return " or ".join(dict.fromkeys(self._middle(measure) for measure in self.measures))

    def _middle(self, measure: Measure) -> str:
        return measure.mean if self.aggregate == "mean" else self.aggregate


def read(query: QueryDict) -> Asked:
    """What an address asks for. Raises ``InvalidSetting`` that names the parameter."""
    return Asked(
        q=_filter("q", query.get("q", "")) if "q" in query else None,
        runs=_listed(query, "runs", MOST_RUN_IDS, "runs"),
        metrics=_metrics(query),
        x=query.get("x", "").strip(),
        y=query.get("y", "").strip(),
        by=_listed(query, "by", MOST_BY, "parameters"),
        aggregate=_one_of("aggregate", query.get("aggregate", ""), AGGREGATES) or "mean",
        baseline=_filter("baseline", query.get("baseline", "")),
        chart=_one_of("chart", query.get("chart", ""), tuple(CHARTS)),
        log=_switch("log", query.get("log", "")),
        raw=_switch("raw", query.get("raw", "")) is not False,
        sort=query.get("sort", "").strip(),
        configurations=_listed(query, "configuration", MOST_DISTRIBUTIONS, "configurations"),
    )


def _metrics(query: QueryDict) -> tuple[str, ...]:
    names = _listed(query, "metric", MOST_METRICS, "figures") or (DEFAULT_METRIC,)
    for name in names:
        _one_of("metric", name, tuple(measures()))
    return names


def _listed(query: QueryDict, name: str, most: int, things: str) -> tuple[str, ...]:
    """``name=a&name=b`` and ``name=a,b`` alike, each once."""
    words = [word.strip() for text in query.getlist(name) for word in text.split(",")]
    found = tuple(dict.fromkeys(word for word in words if word))
    if len(found) > most:
        raise InvalidSetting(name, f"takes at most {most} {things}, not {len(found)}")
    return found


def _one_of(name: str, word: str, known: Sequence[str]) -> str:
    if word and word not in known:
        raise InvalidSetting(name, f"must be one of {', '.join(known)}, not {word!r:.40}")
    return word


def _switch(name: str, word: str) -> bool | None:
    switches: Mapping[str, bool | None] = {"": None, "1": True, "0": False}
    if word not in switches:
        raise InvalidSetting(name, f"must be 1 or 0, not {word!r:.40}")
    return switches[word]


def _filter(name: str, text: str) -> str:
    if len(text) > LONGEST_FILTER:
        raise InvalidSetting(name, f"takes at most {LONGEST_FILTER:,} characters, not {len(text):,}")
    return text.strip()
