"""Views that pause and resume the queue."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme

from brokerweb.experiments import pause
from brokerweb.kit.view_guards import changes, person


@changes
def pause_queue(request: HttpRequest) -> HttpResponse:
    pause.pause(person(request))
    messages.success(request, "Queue paused. Active runs continue; queued runs are not launched.")
    return _back(request)


@changes
def resume_queue(request: HttpRequest) -> HttpResponse:
    pause.resume()
    messages.success(request, "Queue resumed.")
    return _back(request)


def _back(request: HttpRequest) -> HttpResponse:
    """Redirect to the page of the button."""
    asked = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(asked, {request.get_host()}, request.is_secure())
    return redirect(asked if is_ours else "home")
