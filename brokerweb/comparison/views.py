"""The comparison page: parses the URL, calls one service, renders the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone

from brokerweb.comparison import axes, drawing, exports, services
from brokerweb.comparison import distribution as distributions
from brokerweb.comparison.parameters import Parameter
from brokerweb.comparison.query import CHARTS, MOST_BY, Asked, read
from brokerweb.comparison.services import Comparison, Group
from brokerweb.experiments.models import Experiment, RunState
from brokerweb.kit.tables import FORMS, JSON, download, written
from brokerweb.kit.view_guards import person
from brokerweb.runlist import saved_views
from brokerweb.runlist.views import pointed
from overlay.core.engines import CALIBRATED, OF_SERVERS, SIMULATED
from overlay.core.errors import InvalidSetting
from telemetry.filters import InvalidFilter
from telemetry.reports.grouping import AGGREGATES
from telemetry.systems.registry import measures

ROWS = 100
"""Groups per page of the table."""
VALUES_SHOWN = 10
"""Values shown per parameter; the rest is counted."""
IN_TITLE = ("topology", "kind", "links", "engine")
"""Parameters named in the first column of the table."""
DROPPED: dict[str, Any] = {"x": "", "y": "", "by": (), "sort": "", "baseline": ""}
"""Parameters that are dropped if they do not fit the runs, with their neutral values."""
SUSPECT = "suspect"
MODULES = [f"js/{name}.js" for name in ("compare-heat", "compare-rows", "estimates", "echart", "format")]
"""Modules imported by the page's script, preloaded."""
MOST_LINKED = 20
"""Maximum number of configurations in the link to a group's runs."""


@login_required
def index(request: HttpRequest) -> HttpResponse:
    try:
        asked = read(request.GET)
    except InvalidSetting as error:
        return _page(request, Asked(q=request.GET.get("q", "")), error=error)
    if not asked.is_anything:
        return _page(request, asked, examples=_examples())
    dropped: list[InvalidSetting] = []
    while True:
        try:
            found = services.compare(asked, timezone.now())
            groups = services.ordered(found)
        except InvalidSetting as error:
            if error.field not in DROPPED or not getattr(asked, error.field):
                return _page(request, asked, error=error)
            # Parameters of a saved URL may no longer fit the runs: show the rest, and report what was ignored.
            dropped.append(error)
            asked = replace(asked, **{error.field: DROPPED[error.field]})
        else:
            return _page(request, asked, found, groups, dropped=dropped)


def _page(
    request: HttpRequest,
    asked: Asked,
    found: Comparison | None = None,
    groups: list[Group] | None = None,
    *,
    error: InvalidSetting | None = None,
    dropped: Sequence[InvalidSetting] = (),
    examples: list[dict[str, str]] | None = None,
) -> HttpResponse:
    context: dict[str, Any] = {
        "asked": found.asked if found else asked,
        "error": error,
        "wrong": {error.field: error.sentence} if error else {},
        "dropped": dropped,
        "examples": examples,
        "measures": measures(found.asked.systems if found else ()).values(),
        "aggregates": AGGREGATES,
        "kept": [(name, value) for name in ("runs", "configuration") for value in request.GET.getlist(name)],
        "without_wrong": _without(request, error.field) if error else "",
        "place": pointed(asked.q or "", error) if isinstance(error, InvalidFilter) else None,
        "views": list(saved_views.of(person(request), "compare")),
        "here": _without(request, "page").removeprefix("?"),
    }
    if found is not None and groups is not None:
        context |= _shown(request, found, groups)
    return render(request, "compare/page.html", context, status=400 if error else 200)


def _without(request: HttpRequest, *names: str) -> str:
    """The URL without some of its parameters."""
    query = request.GET.copy()
    for name in names:
        query.pop(name, None)
    return f"?{query.urlencode()}"


def _shown(request: HttpRequest, found: Comparison, groups: list[Group]) -> dict[str, Any]:
    charts = drawing.drawn(found, groups)
    page = Paginator(groups, ROWS).get_page(request.GET.get("page"))
    x, usual = axes.x_of(found), axes.x_of(_without_axes(found))
    offered = {name: title for name, title in CHARTS.items() if name in charts or name == "ecdf"}
    if "lines" in offered and x is not None and not x.is_number:
        offered["lines"] = "Points"
    chart = found.asked.chart if found.asked.chart in offered else next(iter(offered))
    return {
        "found": found,
        "page": page,
        "rows": [_row(found, group) for group in page],
        "chips": [_chip(found, one, x) for one in found.differing],
        "x": x,
        "usual": usual,
        "heat_axes": _heat_axes(found) if "heat" in charts else None,
        "drawn": {"charts": charts, "shown": chart, "log": found.asked.log},
        "offered": offered,
        "chart": chart,
        "kinds": {one.factors["topology"]: one.kind for one in found.configurations.values()},
        "forms": FORMS,
        "modules": MODULES,
        "columns": [] if found.asked.by else [one for one in found.differing if one.name not in IN_TITLE],
        "calibrated_systems": sorted(
            {
                one.factors["system"]
                for one in found.configurations.values()
                if one.factors.get("service_times") in (CALIBRATED, OF_SERVERS)
            }
        ),
        "has_published": any(group.published is not None for group in groups),
        "without": sum(group.estimates[found.asked.measure.name].value is None for group in groups),
        "lacking": _lacking(found, groups),
        "single": sum(len(group.runs) == 1 for group in groups),
        "suspect": sum(one.verdict == SUSPECT for one in found.selection.runs),
    }


def _lacking(found: Comparison, groups: Sequence[Group]) -> list[str]:
    """The systems of which no group has the figure that is drawn, while another one has it."""
    name = found.asked.measure.name
    drawn = [group.estimates[name].value is not None for group in groups]
    systems = [str(found.configurations[group.id].factors["system"]) for group in groups]
    having = {system for system, is_drawn in zip(systems, drawn, strict=True) if is_drawn}
    return sorted(set(systems) - having) if having else []


def _without_axes(found: Comparison) -> Comparison:
    return replace(found, asked=replace(found.asked, x="", y=""))


def _heat_axes(found: Comparison) -> dict[str, Any]:
    """Possible parameters of the heat map's y axis, the current one, and the default."""
    x = axes.x_of(found, but=(found.asked.y,))
    usual = drawing.second(replace(found, asked=replace(found.asked, y="")), axes.x_of(found))
    return {"y": drawing.second(found, x), "usual": usual, "x": axes.x_of(found)}


@dataclass(frozen=True)
class _Chip:
    """A varied parameter as shown on the page."""

    parameter: Parameter
    values: tuple[Any, ...]
    more: int
    is_x: bool
    is_by: bool
    by: str
    """The value of ``by`` after a click."""


def _chip(found: Comparison, one: Parameter, x: Parameter | None) -> _Chip:
    by = found.asked.by
    is_by = one.name in by
    now = [name for name in by if name != one.name] if is_by else [*by, one.name][-MOST_BY:]
    shown = one.values[:VALUES_SHOWN]
    is_x = x is not None and x.name == one.name
    return _Chip(one, shown, len(one.values) - len(shown), is_x, is_by, ",".join(now))


def _row(found: Comparison, group: Group) -> dict[str, Any]:
    columns = [one for one in found.differing if one.name not in IN_TITLE]
    by = found.asked.by
    topology = found.configurations[group.id].factors["topology"]
    return {
        "group": group,
        "title": group.label.removesuffix(f", {SIMULATED}") if by else topology,
        "factors": [] if by else [(one, group.factors[one.name]) for one in columns],
        "links": "" if by else found.configurations[group.id].factors["links"],
        "figures": [(measure, group.estimates[measure.name]) for measure in found.asked.measures],
        "link": _runs_of(found.asked, group),
        "suspect": sum(one.verdict == SUSPECT for one in group.runs),
    }


def _runs_of(asked: Asked, group: Group) -> str:
    """Query of the list of runs for this group; empty if it would be too long for a URL."""
    if len(group.configurations) > MOST_LINKED:
        return ""
    names = ", ".join(group.configurations)
    own = f"configuration = {names}" if len(group.configurations) == 1 else f"configuration in ({names})"
    parts = [f"({asked.q})" if asked.q else "", own, f"state = {RunState.DONE}"]
    return urlencode({"q": " and ".join(part for part in parts if part)})


def _examples() -> list[dict[str, str]]:
    """Three example comparisons."""
    done = Experiment.objects.filter(runs__state=RunState.DONE).order_by("-created")
    newest = done.values_list("pk", "name").first()
    found = [
        ("created > 7d ago", "Runs of the last seven days", "one row per configuration"),
        ("engine = live", "All live runs", "without simulated runs"),
        ("verdict = valid", "All valid runs", "live and simulated"),
    ]
    if newest:
        found.insert(0, (f"experiment.id = {newest[0]}", f"Runs of {newest[1]}", "the latest experiment with results"))
    return [{"query": urlencode({"q": q}), "q": q, "title": title, "why": why} for q, title, why in found[:3]]


@login_required
def distribution(request: HttpRequest) -> HttpResponse:
    """The chart of distributions, loaded on demand because it reads samples."""
    try:
        asked = read(request.GET)
        found = services.compare(asked, timezone.now())
        groups = distributions.chosen(found, services.ordered(found))
    except InvalidSetting as error:
        return JsonResponse({"sentence": str(error)}, status=400)
    return JsonResponse(distributions.drawn(found, distributions.distributions(groups)))


@login_required
def export(request: HttpRequest, form: str) -> HttpResponse:
    """Export of the complete table with the current filter, grouping and order."""
    if form not in FORMS:
        raise Http404
    try:
        found = services.compare(read(request.GET), timezone.now())
        groups = services.ordered(found)
    except InvalidSetting as error:
        return HttpResponse(f"{error.field}: {error.sentence}.", status=400, content_type="text/plain; charset=utf-8")
    if form == JSON:
        whole = {**exports.summary(found), "results": [exports.entry(found, group) for group in groups]}
        return JsonResponse(whole, headers={"Content-Disposition": 'attachment; filename="comparison.json"'})
    return download(written(exports.flat(found, groups), form), form, "comparison")
