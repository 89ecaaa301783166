"""Recorded messages of seed 000. Counterpart: ``brokerweb.wirelab.views`` has the other pages of the lab."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render

from brokerweb.experiments.models import Run
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.streams import download
from brokerweb.systems.context_broker.wirelab import recorded
from brokerweb.systems.context_broker.wirelab.lab import LAB
from brokerweb.wirelab import services
from brokerweb.wirelab.recorded import capture_name, choice_of, whole
from brokerweb.wirelab.views import runs, shown
from overlay.core.errors import InvalidSetting
from overlay.systems.context_broker.wire.table import LAYOUTS
from telemetry.lake import pcapng

WIRE = "context_broker/wire"
"""Folder of the templates."""


@login_required
def messages(request: HttpRequest) -> HttpResponse:
    """Recorded messages: the runs that have some, or those of one run, or one of them taken apart."""
    run_id = request.GET.get("run", "")
    if not run_id:
        return runs(request, LAB)
    run = get_object_or_404(Run.objects.select_related("experiment"), pk=run_id)
    context: dict[str, Any] = {
        "lab": LAB,
        "tab": "recorded",
        "run": run,
        "layouts": LAYOUTS.values(),
        "sent": request.GET,
    }
    if not recorded.is_there(run):
        return render(request, f"{WIRE}/messages.html", context)
    try:
        choice = choice_of(request.GET.dict())
        number = whole("page", request.GET.get("page") or "1", 1, 10**6)
        if request.GET.get("message"):
            return _message(request, run, context)
    except InvalidSetting as error:
        return render(request, f"{WIRE}/messages.html", {**context, "error": error}, status=400)
    return render(request, f"{WIRE}/messages.html", {**context, "page": recorded.page(run, choice, number)})


def _message(request: HttpRequest, run: Run, context: dict[str, Any]) -> HttpResponse:
    number = whole("message", request.GET["message"], 0, 10**9)
    try:
        found = recorded.message(run, number)
    except NotPossible as error:
        return render(
            request,
            f"{WIRE}/message.html",
            {**context, "number": number, "refused": str(error)},
            status=409,
        )
    if found is None:
        raise Http404
    row, data = found
    return render(
        request,
        f"{WIRE}/message.html",
        {**context, "number": number, "row": row, **shown(request, LAB, services.decoded(LAB, data))},
    )


@login_required
def capture(request: HttpRequest, run_id: str) -> HttpResponseBase:
    """The messages of a recorded run as pcapng, chosen as in the table."""
    run = get_object_or_404(Run.objects.only("id", "engine"), pk=run_id)
    try:
        pieces = recorded.capture(run, choice_of(request.GET.dict()))
    except InvalidSetting as error:
        return HttpResponse(f"{error.field}: {error.sentence}", status=400, content_type="text/plain; charset=utf-8")
    except NotPossible as error:
        return HttpResponse(str(error), status=404, content_type="text/plain; charset=utf-8")
    return download(request, pieces, capture_name(run), pcapng.MEDIA_TYPE)
