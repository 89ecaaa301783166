"""Pages of reports."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.safestring import SafeString

from brokerweb.accounts.asking import asked
from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.picks import FIND, FIND_RUNS
from brokerweb.kit.tables import CSV, PARQUET, written
from brokerweb.kit.tables import download as taken_away
from brokerweb.kit.view_guards import changes, form_page, page_of, person, sought
from brokerweb.reports import picking, services
from brokerweb.reports.contents import rendered
from brokerweb.reports.models import ENDED, Report, ReportState
from brokerweb.reports.tables import configurations, points
from overlay.core.errors import InvalidSetting


@login_required
def index(request: HttpRequest) -> HttpResponse:
    rows = Report.objects.select_related("owner", "schedule").prefetch_related("experiments").defer("result")
    if state := request.GET.get("state", ""):
        rows = rows.filter(state=state)
    if query := sought(request):
        named = Q(experiments__name__icontains=query) | Q(schedule__name__icontains=query)
        rows = rows.filter(pk__in=Report.objects.filter(named).values("pk"))
    page = page_of(request, rows)
    runs = services.own_runs(page.object_list)
    for report in page:
        report.run_count = len(runs[report.pk])
    return render(request, "reports/list.html", {"page": page})


@form_page
def new(request: HttpRequest) -> HttpResponse:
    return _form(request, request.GET.getlist("experiments"), request.GET.getlist("runs"))


def _form(
    request: HttpRequest, experiments: list[str], runs: list[str], error: InvalidSetting | None = None
) -> HttpResponse:
    context = {
        "is_empty": not Run.objects.filter(state=RunState.DONE).exists(),
        "experiments": picking.finished_experiments(experiments, request.POST.get(FIND, "")),
        "runs": picking.finished_runs(runs, request.POST.get(FIND_RUNS, "")),
        "chosen_experiments": experiments,
        "chosen_runs": runs,
        "error": error,
    }
    return render(request, "reports/form.html", context, status=400 if error else 200)


@changes
def create(request: HttpRequest) -> HttpResponse:
    experiments, runs = request.POST.getlist("experiments"), request.POST.getlist("runs")
    try:
        report = services.create(
            experiments=list(Experiment.objects.filter(pk__in=experiments)),
            runs=list(services.light_runs().filter(pk__in=runs)),
            owner=person(request),
        )
    except InvalidSetting as error:
        return _form(request, experiments, runs, error)
    return redirect("reports:detail", report.id)


@login_required
def detail(request: HttpRequest, report_id: str) -> HttpResponse:
    report = get_object_or_404(Report.objects.select_related("owner", "schedule").defer("result"), pk=report_id)
    is_done = report.state == ReportState.DONE
    number, may_change = request.GET.get("page", "1")[:8], asked(request).may("change")
    contents, runs_count = SafeString(), 0
    if is_done:
        contents, runs_count = rendered(report.pk, report.ended_at, number, may_change=may_change)
    else:
        runs_count = len(services.run_ids(report))
    context = {
        "report": report,
        "ended": report.state in ENDED,
        "contents": contents,
        "runs_count": runs_count,
        "html": services.html_file(report) is not None,
        "changed": services.changed_runs(report).count(),
    }
    return render(request, "reports/detail.html", context)


@login_required
def progress(request: HttpRequest, report_id: str) -> HttpResponse:
    """The live part of the page; after the end, the page is reloaded."""
    report = get_object_or_404(Report, pk=report_id)
    response = render(request, "reports/progress.html", {"report": report})
    if report.state in ENDED:
        response["HX-Refresh"] = "true"
    return response


@login_required
def download(request: HttpRequest, report_id: str, form: str) -> HttpResponse:
    """The report as one HTML file, as JSON, its charts' points as CSV, or its table of configurations as Parquet."""
    report = get_object_or_404(Report, pk=report_id, state=ReportState.DONE)
    name = f'attachment; filename="report-{report.id}.{form}"'
    if form == "html" and (path := services.html_file(report)):
        return HttpResponse(
            path.read_bytes(), content_type="text/html; charset=utf-8", headers={"Content-Disposition": name}
        )
    if form == "json":
        return JsonResponse(report.result, headers={"Content-Disposition": name})
    if form == CSV:
        return taken_away(written(points(report.result), form), form, f"report-{report.id}")
    if form == PARQUET:
        return taken_away(written(configurations(report.result), form), form, f"report-{report.id}-configurations")
    raise Http404


@changes
def cancel(request: HttpRequest, report_id: str) -> HttpResponse:
    try:
        services.cancel(get_object_or_404(Report, pk=report_id))
    except NotPossible as error:
        messages.error(request, str(error))
    return redirect("reports:detail", report_id)


@changes
def delete(request: HttpRequest, report_id: str) -> HttpResponse:
    try:
        services.delete(get_object_or_404(Report.objects.defer("result"), pk=report_id))
    except NotPossible as error:
        messages.error(request, str(error))
        return redirect("reports:detail", report_id)
    messages.success(request, "Report deleted. Its runs are kept.")
    return redirect("reports:list")
