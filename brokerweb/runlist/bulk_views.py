"""What is done with chosen runs of the list: shown first, then carried out; tags and notes; views that are saved."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from brokerweb.experiments import labels
from brokerweb.experiments.models import Run, SavedView
from brokerweb.kit import stale
from brokerweb.kit.doors import changes, form_page, person, posted
from brokerweb.kit.stale import Outdated
from brokerweb.runlist import bulk, saved_views
from brokerweb.runlist.bulk import DELETE
from brokerweb.runlist.filtering import runs_matching
from overlay.core.errors import InvalidSetting

NAMED = 12
"""Runs that a preview names."""


@changes
def many(request: HttpRequest) -> HttpResponse:
    """Shows what an action would do; with ``expected``, the mark of what was shown, does it if that is still so."""
    action, tag = request.POST.get("action", ""), request.POST.get("tag", "")
    try:
        planned = bulk.plan(action, _chosen(request), tag)
    except InvalidSetting as error:
        messages.error(request, f"{error.sentence[:1].upper()}{error.sentence[1:]}.")
        return redirect(_list_of(request))
    expected = request.POST.get("expected")
    if expected == planned.mark and planned.runs:
        bulk.carry_out(planned, person(request))
        messages.success(request, planned.was_done)
        return redirect(_list_of(request))
    named = Run.objects.select_related("experiment").filter(pk__in=planned.runs[:NAMED])
    context = {
        "plan": planned,
        "named": named.defer("configuration", "summary", "observed", "experiment__definition"),
        "more": max(0, len(planned.runs) - NAMED),
        "has_changed": expected is not None,
        "is_grave": action in (DELETE, bulk.CANCEL),
        "sent": [(name, value) for name in ("q", "all", "query", "action", "tag") if (value := request.POST.get(name))],
        "runs": [] if request.POST.get("all") else request.POST.getlist("runs"),
        "back": _list_of(request),
    }
    return render(request, "runs/bulk.html", context)


@posted
def compare(request: HttpRequest) -> HttpResponse:
    """Leads to the comparison of the chosen runs."""
    chosen = request.POST.getlist("runs")
    query = {"q": request.POST.get("q", "")} if request.POST.get("all") else {"runs": ",".join(chosen)}
    return redirect(f"{reverse('compare')}?{urlencode(query)}")


def _chosen(request: HttpRequest) -> QuerySet[Run]:
    """The runs that were ticked, or all that the list's filter chooses. Raises ``InvalidSetting``."""
    if request.POST.get("all"):
        return runs_matching(request.POST.get("q", ""), timezone.now())
    return Run.objects.filter(pk__in=request.POST.getlist("runs")[: bulk.MOST_RUNS])


def _list_of(request: HttpRequest) -> str:
    """The address of the list that a form was sent from."""
    query = request.POST.get("query", "")
    return f"{reverse('runs:list')}?{query}" if query else reverse("runs:list")


@form_page
def write_on(request: HttpRequest, run_id: str) -> HttpResponse:
    """Tags and note of one run: a form in place of its cell, or a page of its own."""
    run = get_object_or_404(Run.objects.select_related("experiment").defer("summary", "observed"), pk=run_id)
    is_part = "HX-Request" in request.headers
    typed, seen = _labels(run), stale.mark(labels.written(run))
    wrong: dict[str, str] = {}
    newer: dict[str, str] | None = None
    if request.method == "POST":
        typed = {name: request.POST.get(name, "") for name in typed}
        try:
            labels.set_labels(run, typed["tags"], typed["note"], seen=request.POST.get(stale.SEEN, ""))
        except InvalidSetting as error:
            wrong, seen = {error.field: error.sentence}, request.POST.get(stale.SEEN, "")
        except Outdated:
            run.refresh_from_db(fields=["note"])
            seen, newer = stale.mark(labels.written(run)), stale.newer(_labels(run), typed)
        else:
            return render(request, "runs/labels.html", {"run": run}) if is_part else redirect("runs:detail", run_id)
    elif is_part and "cancel" in request.GET:
        return render(request, "runs/labels.html", {"run": run})
    template = "runs/labels_form.html" if is_part else "runs/labels_page.html"
    context = {"run": run, "typed": typed, "wrong": wrong, "is_part": is_part, "most_note": labels.MOST_NOTE}
    refused = 400 if wrong else 200 if newer is None else 409
    status = 200 if is_part else refused  # a browser would say of a part in its console that it failed
    return render(request, template, {**context, "newer": newer, "seen": seen}, status=status)


def _labels(run: Run) -> dict[str, str]:
    """As they are typed."""
    return {"tags": " ".join(labels.written(run)["tags"]), "note": run.note}


@posted
def save_view(request: HttpRequest) -> HttpResponse:
    page, query = request.POST.get("page", ""), request.POST.get("query", "")
    try:
        view = saved_views.save(person(request), page, request.POST.get("name", ""), query)
    except InvalidSetting as error:
        messages.error(request, f"The view was not saved. {error.field.capitalize()}: {error.sentence}.")
    else:
        messages.success(request, f"Saved the view “{view.name}”.")
    return redirect(_page_of(page, query))


@posted
def rename_view(request: HttpRequest, view_id: int) -> HttpResponse:
    view = get_object_or_404(SavedView, pk=view_id, owner=person(request))
    try:
        saved_views.rename(view, request.POST.get("name", ""))
    except InvalidSetting as error:
        messages.error(request, f"The view “{view.name}” keeps its name. {error.field.capitalize()}: {error.sentence}.")
    return redirect(_page_of(view.page, request.POST.get("query", "")))


@posted
def delete_view(request: HttpRequest, view_id: int) -> HttpResponse:
    view = get_object_or_404(SavedView, pk=view_id, owner=person(request))
    view.delete()
    messages.success(request, f"Deleted the view “{view.name}”.")
    return redirect(_page_of(view.page, request.POST.get("query", "")))


def _page_of(page: str, query: str) -> str:
    """The address of a page that views are of."""
    path = reverse("compare") if page == "compare" else reverse("runs:list")
    return f"{path}?{query}" if query else path
