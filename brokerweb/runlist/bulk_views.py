"""Bulk actions on selected runs, with a preview; tags and notes; saved views."""

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
from brokerweb.kit import etags
from brokerweb.kit.etags import Outdated
from brokerweb.kit.view_guards import changes, form_page, needs, person, posted
from brokerweb.runlist import bulk, saved_views
from brokerweb.runlist.bulk import DELETE
from brokerweb.runlist.filtering import runs_matching
from overlay.core.errors import InvalidSetting

NAMED = 12
"""Runs listed in a preview."""


@changes
def many(request: HttpRequest) -> HttpResponse:
    """Preview an action; with ``expected``, the digest of the preview, apply it if it still holds."""
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
    """Redirects to the comparison of the selected runs."""
    chosen = request.POST.getlist("runs")
    query = {"q": request.POST.get("q", "")} if request.POST.get("all") else {"runs": ",".join(chosen)}
    return redirect(f"{reverse('compare')}?{urlencode(query)}")


def _chosen(request: HttpRequest) -> QuerySet[Run]:
    """The selected runs, or all that match the list's filter. Raises ``InvalidSetting``."""
    if request.POST.get("all"):
        return runs_matching(request.POST.get("q", ""), timezone.now())
    return Run.objects.filter(pk__in=request.POST.getlist("runs")[: bulk.MOST_RUNS])


def _list_of(request: HttpRequest) -> str:
    """The URL of the list that contained the form."""
    query = request.POST.get("query", "")
    return f"{reverse('runs:list')}?{query}" if query else reverse("runs:list")


@form_page
def write_on(request: HttpRequest, run_id: str) -> HttpResponse:
    """Edit tags and note of a run: a form in its table cell, or a page."""
    run = get_object_or_404(Run.objects.select_related("experiment").defer("summary", "observed"), pk=run_id)
    is_part = "HX-Request" in request.headers
    typed, seen = _labels(run), etags.mark(labels.written(run))
    wrong: dict[str, str] = {}
    newer: dict[str, str] | None = None
    if request.method == "POST":
        typed = {name: request.POST.get(name, "") for name in typed}
        try:
            labels.set_labels(run, typed["tags"], typed["note"], seen=request.POST.get(etags.SEEN, ""))
        except InvalidSetting as error:
            wrong, seen = {error.field: error.sentence}, request.POST.get(etags.SEEN, "")
        except Outdated:
            run.refresh_from_db(fields=["note"])
            seen, newer = etags.mark(labels.written(run)), etags.newer(_labels(run), typed)
        else:
            return render(request, "runs/labels.html", {"run": run}) if is_part else redirect("runs:detail", run_id)
    elif is_part and "cancel" in request.GET:
        return render(request, "runs/labels.html", {"run": run})
    template = "runs/labels_form.html" if is_part else "runs/labels_page.html"
    context = {"run": run, "typed": typed, "wrong": wrong, "is_part": is_part, "most_note": labels.MOST_NOTE}
    refused = 400 if wrong else 200 if newer is None else 409
    status = 200 if is_part else refused  # for fragments, an error status would only appear in the browser's console
    return render(request, template, {**context, "newer": newer, "seen": seen}, status=status)


def _labels(run: Run) -> dict[str, str]:
    """The entered values."""
    return {"tags": " ".join(labels.written(run)["tags"]), "note": run.note}


@needs("own")
@posted
def save_view(request: HttpRequest) -> HttpResponse:
    page, query = request.POST.get("page", ""), request.POST.get("query", "")
    try:
        view = saved_views.save(person(request), page, request.POST.get("name", ""), query)
    except InvalidSetting as error:
        messages.error(request, f"View not saved. {error.field.capitalize()}: {error.sentence}.")
    else:
        messages.success(request, f"Saved the view “{view.name}”.")
    return redirect(_page_of(page, query))


@needs("own")
@posted
def rename_view(request: HttpRequest, view_id: int) -> HttpResponse:
    view = get_object_or_404(SavedView, pk=view_id, owner=person(request))
    try:
        saved_views.rename(view, request.POST.get("name", ""))
    except InvalidSetting as error:
        messages.error(request, f"View “{view.name}” not renamed. {error.field.capitalize()}: {error.sentence}.")
    return redirect(_page_of(view.page, request.POST.get("query", "")))


@needs("own")
@posted
def delete_view(request: HttpRequest, view_id: int) -> HttpResponse:
    view = get_object_or_404(SavedView, pk=view_id, owner=person(request))
    view.delete()
    messages.success(request, f"Deleted the view “{view.name}”.")
    return redirect(_page_of(view.page, request.POST.get("query", "")))


def _page_of(page: str, query: str) -> str:
    """The URL of the page of a view."""
    path = reverse("compare") if page == "compare" else reverse("runs:list")
    return f"{path}?{query}" if query else path
