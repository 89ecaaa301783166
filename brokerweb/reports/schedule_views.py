"""Pages of schedules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from brokerweb.experiments.models import Experiment
from brokerweb.kit import etags
from brokerweb.kit.etags import Outdated
from brokerweb.kit.picks import FIND
from brokerweb.kit.view_guards import changes, form_page, page_of, person, sought
from brokerweb.reports import picking, schedules
from brokerweb.reports.hours import of_crontab
from brokerweb.reports.models import FiringOutcome, Schedule, ScheduleKind
from overlay.core.errors import InvalidSetting

HISTORY_SHOWN = 20
CRON = "crontab"
EXAMPLES = ("0 6 * * 1", "0 3 * * *", "30 1 * * 1-5", "0 */2 * * *", "0 4 1 * *")
"""Clickable examples with their meaning."""


@login_required
def index(request: HttpRequest) -> HttpResponse:
    found = schedules.with_hours().prefetch_related("experiments")
    if query := sought(request):
        named = Q(name__icontains=query) | Q(experiments__name__icontains=query)
        found = found.filter(pk__in=Schedule.objects.filter(named).values("pk"))
    page = page_of(request, found)
    last, now = schedules.last_firings(page.object_list), timezone.now()
    rows = [{**_shown(schedule), "next": schedules.next_times(schedule, now)} for schedule in page]
    for row in rows:
        row["last"] = last.get(row["schedule"].pk)
    return render(request, "schedules/list.html", {"rows": rows, "page": page})


def _shown(schedule: Schedule) -> dict[str, Any]:
    return {"schedule": schedule, "hours": schedules.in_words(schedule), "cron": schedules.words(schedule)[0]}


@login_required
def detail(request: HttpRequest, schedule_id: str) -> HttpResponse:
    """Its times and its latest executions."""
    schedule = get_object_or_404(schedules.with_hours().prefetch_related("experiments"), pk=schedule_id)
    history = page_of(request, schedule.firings.all(), HISTORY_SHOWN)
    context = {
        **_shown(schedule),
        "next": schedules.next_times(schedule, timezone.now()),
        "page": history,
        "firings": schedules.dressed(schedule.firings.filter(pk__in=[one.pk for one in history])),
    }
    return render(request, "schedules/detail.html", context)


@form_page
def new(request: HttpRequest) -> HttpResponse:
    chosen = request.GET.getlist("experiments")
    return _form(request, {"by": CRON, "crontab": "0 6 * * 1", "every_min": "1440", "kind": "comparison"}, chosen)


@form_page
def edit(request: HttpRequest, schedule_id: str) -> HttpResponse:
    schedule = get_object_or_404(schedules.with_hours(), pk=schedule_id)
    chosen = request.POST.getlist("experiments")
    if request.method != "POST":
        cron, every_s = schedules.words(schedule)
        kept = {"name": schedule.name, "kind": schedule.kind, "by": CRON if cron else "every"}
        kept |= {"crontab": cron or "0 6 * * 1", "every_min": str((every_s or 86_400) // 60)}
        return _form(request, kept, [one.pk for one in schedule.experiments.all()], schedule)
    try:
        sent = _sent(request.POST)
        saved = schedules.change(schedule, **sent, seen=request.POST.get(etags.SEEN, ""))
    except InvalidSetting as error:
        return _form(request, request.POST, chosen, schedule, error)
    except Outdated:
        stored = schedules.with_hours().get(pk=schedule.pk)
        return _form(request, request.POST, chosen, stored, newer=_newer(stored, sent))
    messages.success(request, f"Saved {saved.name}.")
    return redirect("schedules:detail", saved.pk)


def _newer(stored: Schedule, sent: dict[str, Any]) -> dict[str, str]:
    """Stored values of fields with other input."""
    hours = schedules.in_words(stored)
    is_same = (sent["crontab"], sent["every_s"]) == schedules.words(stored)
    return etags.newer(
        {"name": stored.name, "experiments": _names(stored.experiments.all()), "hours": hours},
        {"name": sent["name"], "experiments": _names(sent["experiments"]), "hours": hours if is_same else ""},
    )


def _names(experiments: Iterable[Experiment]) -> str:
    return ", ".join(experiment.name for experiment in experiments)


@changes
def create(request: HttpRequest) -> HttpResponse:
    kind = request.POST.get("kind", ScheduleKind.COMPARISON)
    try:
        schedule = schedules.create(**_sent(request.POST), kind=kind, owner=person(request))
    except InvalidSetting as error:
        return _form(request, request.POST, request.POST.getlist("experiments"), error=error)
    messages.success(request, f"Created the schedule {schedule.name}.")
    return redirect("schedules:list")


def _sent(data: QueryDict) -> dict[str, Any]:
    """Raises ``InvalidSetting``."""
    fields: dict[str, Any] = {
        "name": data.get("name", ""),
        "experiments": list(Experiment.objects.filter(pk__in=data.getlist("experiments"))),
    }
    return {**fields, **_hours(data)}


def _hours(data: QueryDict) -> dict[str, Any]:
    if data.get("by") == CRON:
        cron = data.get("crontab", "").strip()
        if not cron:
            raise InvalidSetting("crontab", "is required, such as 0 6 * * 1")
        return {"crontab": cron, "every_s": None}
    text = data.get("every_min", "").strip()
    if not (text.isascii() and text.isdigit() and len(text) < 7):
        raise InvalidSetting(
            "every", f"must be a whole number of minutes, not {text[:40]!r}" if text else "is required"
        )
    return {"crontab": "", "every_s": int(text) * 60}


def _form(
    request: HttpRequest,
    sent: Any,
    chosen: list[str],
    schedule: Schedule | None = None,
    error: InvalidSetting | None = None,
    newer: dict[str, str] | None = None,
) -> HttpResponse:
    """``newer`` has the stored values of fields that differ, if the schedule changed meanwhile."""
    context = {
        "sent": sent,
        "chosen": chosen,
        "schedule": schedule,
        "error": error,
        "newer": newer,
        "seen": request.POST.get(etags.SEEN, "") if error or schedule is None else _mark(schedule),
        "kinds": ScheduleKind.choices,
        "cron_examples": [(one, of_crontab(one).removesuffix(", UTC")) for one in EXAMPLES],
        "picks": picking.experiments(chosen, request.POST.get(FIND, "")),
        **_previewed(sent),
    }
    return render(request, "schedules/form.html", context, status=400 if error else 200 if newer is None else 409)


def _mark(schedule: Schedule) -> str:
    return etags.mark(schedules.stored(schedule))


@login_required
def preview(request: HttpRequest) -> HttpResponse:
    """Preview of the entered times with the next three."""
    return render(request, "schedules/preview.html", _previewed(request.GET))


def _previewed(sent: Any) -> dict[str, Any]:
    data = sent if isinstance(sent, QueryDict) else _as_query(sent)
    try:
        hours, times = schedules.preview(**_hours(data), now=timezone.now())
    except InvalidSetting as error:
        return {"hours_wrong": error.sentence}
    return {"hours": hours, "next": times}


def _as_query(sent: dict[str, str]) -> QueryDict:
    query = QueryDict(mutable=True)
    query.update(sent)
    return query


@changes
def switch(request: HttpRequest, schedule_id: str) -> HttpResponse:
    """Pauses or resumes a schedule."""
    schedule = get_object_or_404(Schedule, pk=schedule_id)
    schedules.change(schedule, enabled=request.POST.get("enabled") == "yes")
    return redirect("schedules:list")


@changes
def run_now(request: HttpRequest, schedule_id: str) -> HttpResponse:
    """Executes a schedule now."""
    schedule = get_object_or_404(Schedule, pk=schedule_id)
    firing = schedules.fire(schedule.pk, person(request))
    if firing is not None and firing.outcome == FiringOutcome.DONE:
        done = "Experiments launched." if schedule.kind == ScheduleKind.LAUNCH else "Report requested."
        messages.success(request, done)
    elif firing is not None:
        messages.error(request, firing.sentence)
    return redirect("schedules:detail", schedule_id)


@changes
def delete(request: HttpRequest, schedule_id: str) -> HttpResponse:
    schedules.delete(get_object_or_404(Schedule, pk=schedule_id))
    messages.success(request, "Schedule deleted. Its reports and runs are kept.")
    return redirect("schedules:list")
