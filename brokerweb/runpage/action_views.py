"""Actions of a run's page: cancel, rerun."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from brokerweb.experiments import services
from brokerweb.experiments.models import Run
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.view_guards import changes, person


@changes
def cancel(request: HttpRequest, run_id: str) -> HttpResponse:
    run = get_object_or_404(Run, pk=run_id)
    try:
        services.cancel(run)
    except NotPossible as error:
        messages.error(request, str(error))
    return redirect("runs:detail", run_id)


@changes
def rerun(request: HttpRequest, run_id: str) -> HttpResponse:
    """Reruns with the same configuration and seed."""
    again = services.rerun(get_object_or_404(Run, pk=run_id), person(request))
    messages.success(request, "Rerun queued with the same configuration and seed.")
    return redirect("runs:detail", again.id)
