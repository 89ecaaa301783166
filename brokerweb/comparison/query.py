"""The parameters of a comparison, read from its URL: the same on the page, in REST and on the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import QueryDict

from overlay.core.errors import InvalidSetting
from telemetry.measures import Measure
from telemetry.reports.grouping import AGGREGATES
from telemetry.systems.registry import first_figure, measures

CHARTS = {
    "lines": "Lines",
    "box": "Boxes",
    "ecdf": "Distribution",
    "heat": "Heat map",
    "difference": "Differences",
}
ANSWERED = "answer_ratio"
"""Shown with response times, which do not cover unanswered requests."""
MOST_METRICS = 6
"""The first is drawn; all are columns of the table."""
MOST_BY = 2
MOST_RUN_IDS = 500
"""Maximum number of run ids: as many as fit into a URL."""
MOST_DISTRIBUTIONS = 12
LONGEST_FILTER = 2_000


@dataclass(frozen=True)
class Asked:
    """The parameters of one comparison."""

    q: str | None = None
    """Filter expression; ``None`` if missing."""
    runs: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    """Empty: the first figure of the systems of the runs."""
    x: str = ""
    """Parameter of the x axis; empty: automatic."""
    y: str = ""
    """Parameter of the heat map's y axis; empty: automatic."""
    by: tuple[str, ...] = ()
    """Parameters to group by; none: by configuration."""
    aggregate: str = "mean"
    baseline: str = ""
    """Configuration hash, or filter expression of the baseline's runs."""
    chart: str = ""
    log: bool | None = None
    raw: bool = True
    sort: str = ""
    configurations: tuple[str, ...] = ()
    """Groups whose distributions are drawn; none: the first of the table."""
    systems: tuple[str, ...] = ()
    """Those of the runs, in whose words figures are titled; none: not known yet."""

    @property
    def is_anything(self) -> bool:
        return self.q is not None or bool(self.runs)

    @property
    def measure(self) -> Measure:
        """The measure that is drawn and compared with the baseline."""
        return measures(self.systems)[self.metrics[0] if self.metrics else first_figure(())]

    @property
    def columns(self) -> tuple[str, ...]:
        """The table's columns: the figures, and the answered share after the first response time."""
        times = [at for at, name in enumerate(self.metrics) if measures()[name].is_response]
        if not times or ANSWERED in self.metrics[: times[0]]:
            return self.metrics
        rest = [name for name in self.metrics[times[0] + 1 :] if name != ANSWERED]
        return (*self.metrics[: times[0] + 1], ANSWERED, *rest)

    @property
    def measures(self) -> list[Measure]:
        return [measures(self.systems)[name] for name in self.columns]

    @property
    def middle(self) -> str:
        """Name of the aggregate over the replicates, for the measure that is drawn."""
        return self._middle(self.measure)

    @property
    def middles(self) -> str:
        """The same for all measures in the table."""
        return " or ".join(dict.fromkeys(self._middle(measure) for measure in self.measures))

    def _middle(self, measure: Measure) -> str:
        return measure.mean if self.aggregate == "mean" else self.aggregate


def read(query: QueryDict) -> Asked:
    """Parse the parameters of a URL. Raises ``InvalidSetting`` that names the parameter."""
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
    names = _listed(query, "metric", MOST_METRICS, "figures")
    for name in names:
        _one_of("metric", name, tuple(measures()))
    return names


def _listed(query: QueryDict, name: str, most: int, things: str) -> tuple[str, ...]:
    """Values of ``name=a&name=b`` or ``name=a,b`` without duplicates."""
    words = [word.strip() for text in query.getlist(name) for word in text.split(",")]
    found = tuple(dict.fromkeys(word for word in words if word))
    if len(found) > most:
        raise InvalidSetting(name, f"accepts at most {most} {things}, not {len(found)}")
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
        raise InvalidSetting(name, f"accepts at most {LONGEST_FILTER:,} characters, not {len(text):,}")
    return text.strip()
