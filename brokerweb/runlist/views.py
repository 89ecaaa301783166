"""The list of runs and its exports; its complete state is in the URL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from brokerweb.experiments import labels
from brokerweb.experiments.models import Experiment
from brokerweb.experiments.queue_position import Queue, with_queue_position
from brokerweb.kit.tables import CSV, FORMS, download
from brokerweb.kit.view_guards import page_of, person
from brokerweb.runlist import bulk, columns, exports, fields, listing, saved_views
from brokerweb.runlist.columns import Column
from brokerweb.runlist.listing import Listing
from overlay.core.errors import InvalidSetting
from telemetry.filters import Comparison, InvalidFilter, Node
from telemetry.filters.changing import demanded, has, toggled

TAGS_OFFERED = 8
CHIPS = (
    *(("state", word) for word in ("queued", "measuring", "done", "failed", "cancelled")),
    ("verdict", "suspect"),
    ("passed", "no"),
    ("engine", "simulated"),
    *(("topology", kind) for kind in ("ring", "full-mesh", "waxman", "central")),
)
"""Conditions toggled by the quick filters."""
CHIP_WORDS = {"passed": "thresholds broken"}


@dataclass(frozen=True, slots=True)
class Chip:
    """A quick filter as shown on the page."""

    field: str
    word: str
    value: str
    is_on: bool
    query: str
    """Query string of its link."""


@dataclass(frozen=True, slots=True)
class Head:
    """A column's head."""

    column: Column
    order: str
    """``ascending`` or ``descending`` if the list is sorted by it; otherwise empty."""
    query: str
    """Query string that sorts by it; empty if not sortable."""


@login_required
def index(request: HttpRequest) -> HttpResponse:
    asked = listing.of_address(request.GET)
    wrong, page = asked.wrong_filter, None
    try:
        rows = asked.rows(timezone.now())
    except InvalidFilter as error:
        wrong = error
    if wrong is None:
        page = page_of(request, columns.reading(rows, asked.columns), asked.size)
        with_queue_position(page, Queue())
        asked = asked.of_systems(run.system for run in page)
        for run in page:
            run.cells = [(column, column.text(run)) for column in asked.columns]
    context = {
        "page": page,
        "asked": asked,
        "wrong": pointed(asked.text, wrong) if wrong else None,
        "problems": [one for one in asked.problems if not isinstance(one, InvalidFilter)],
        "heads": [_head(asked, column) for column in asked.columns],
        "chips": [] if wrong else _chips(asked),
        "sizes": listing.SIZES,
        "query": asked.query(),
        "complete_query": asked.complete_query,
        "here": asked.query(page=page.number if page and page.number > 1 else None),
        "show_all": asked.query(q=None),
        "compare_url": _compare_url(asked),
        "has_columns": asked.has_columns,
        "column_names": ",".join(column.name for column in asked.columns),
        "actions": bulk.ACTIONS,
        "forms": FORMS,
        "most_rows": exports.MOST_ROWS,
        "views": list(saved_views.of(person(request), "runs")),
        "experiment": _experiment(asked.tree),
    }
    return render(request, "runs/list.html", context, status=400 if wrong else 200)


def _compare_url(asked: Listing) -> str:
    return f"{reverse('compare')}?{urlencode({'q': asked.text})}"


def pointed(text: str, wrong: InvalidFilter) -> dict[str, str]:
    """The filter in three parts; the middle one is the error position."""
    at = wrong.position
    end = next((place for place in range(at + 1, len(text)) if text[place].isspace()), len(text))
    return {"sentence": wrong.sentence, "before": text[:at], "at": text[at:end] or "\u2423", "after": text[end:]}


def _head(asked: Listing, column: Column) -> Head:
    """The first click sorts by the more useful order (smallest, or newest), the next reverses it."""
    order = {column.name: "ascending", f"-{column.name}": "descending"}.get(asked.sort, "")
    if not column.sort:
        return Head(column, "", "")
    first_is_largest = column.name in ("created", "ended")
    by = column.name if (order == "descending" or (not order and not first_is_largest)) else f"-{column.name}"
    return Head(column, order, asked.query(sort=by))


def _chips(asked: Listing) -> list[Chip]:
    tags = labels.used_tags().order_by("-runs_count", "name")[:TAGS_OFFERED]
    pairs: Sequence[tuple[str, str]] = [*CHIPS, *(("tag", tag.name) for tag in tags)]
    return [_chip(asked, name, value) for name, value in pairs]


def _chip(asked: Listing, name: str, value: str) -> Chip:
    one = Comparison(name, "=", value)
    changed = str(toggled(asked.tree, one))
    return Chip(name, CHIP_WORDS.get(name, value), value, has(asked.tree, one), asked.query(q=changed))


def _experiment(tree: Node) -> Experiment | None:
    """The experiment that the filter limits the list to, if any."""
    value = demanded(tree, "experiment.id")
    return Experiment.objects.filter(pk=value).first() if value else None


@login_required
def help_of_fields(request: HttpRequest) -> HttpResponse:
    """Filter syntax, as a fragment of the list's page or as a page."""
    template = "runs/fields.html" if "HX-Request" in request.headers else "runs/fields_page.html"
    example = fields.without_group(next(iter(fields.SETTINGS.values())).example)
    return render(request, template, {"groups": fields.GROUPS, "example": example})


@login_required
def picker(request: HttpRequest) -> HttpResponse:
    """The column selection."""
    asked = listing.of_address(request.GET)
    context = {
        "asked": asked,
        "groups": columns.GROUPS,
        "shown": {column.name for column in asked.columns},
        "usual": asked.query(columns=None),
    }
    template = "runs/picker.html" if "HX-Request" in request.headers else "runs/picker_page.html"
    return render(request, template, context)


@login_required
def export(request: HttpRequest) -> HttpResponse:
    """All runs of the list as a file."""
    try:
        return exported(listing.of_address(request.GET), request.GET.get("format", CSV))
    except InvalidSetting as error:
        return HttpResponse(f"{error.field}: {error.sentence}.", content_type="text/plain; charset=utf-8", status=400)


def exported(asked: Listing, form: str) -> HttpResponse:
    """The file, for pages and REST. Raises ``InvalidSetting``."""
    if asked.problems:
        raise asked.problems[0]
    now = timezone.now()
    return download(exports.exported(asked.rows(now), asked.columns, form), form, f"runs-{now:%Y-%m-%d}")
