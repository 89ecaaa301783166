"""Middleware that refuses requests before any view runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from rest_framework.exceptions import AuthenticationFailed

from brokerweb.accounts.bearer import BearerAuthentication
from brokerweb.api.answers import REST, as_problem
from brokerweb.kit.error_body import body
from brokerweb.kit.throttles import Budget, host_of, refusal, windows

View = Callable[[HttpRequest], HttpResponse]

METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
"""Methods that at least one URL supports; views refuse the others themselves."""


def known_methods(answer: View) -> View:
    """405 for all other methods on any URL. TRACE would return a cookie's secret to a script that may not read it, and
    a page that requires login would answer with a redirect.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.method in METHODS:
            return answer(request)
        if not request.path.startswith(REST):
            return HttpResponseNotAllowed(METHODS)
        refused = body([("", "method_not_allowed", f"Method {request.method:.20} is not supported.")])
        return as_problem(request, JsonResponse(refused, status=405, headers={"Allow": ", ".join(METHODS)}))

    return middleware


def rest_throttle(answer: View) -> View:
    """429 beyond the request rate of a client. All requests count in one budget per token, per browser session or,
    without both, per address.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if not request.path.startswith(REST):
            return answer(request)
        who, rate = _budget(request)
        budget = windows.count(who, rate, time.time())
        if budget is None:
            return answer(request)
        response = _too_many(who, budget) if budget.is_exceeded else answer(request)
        budget.tell(response, who.partition(":")[0])
        return response

    return middleware


def _too_many(who: str, budget: Budget) -> HttpResponse:
    refused, seconds = refusal(who, budget.reset_s)
    return JsonResponse(refused, status=429, headers={"Retry-After": str(seconds)})


def _budget(request: HttpRequest) -> tuple[str, float]:
    """The budget of a request and its rate per second. Requests with an invalid token, and all requests while the
    database is down, count for their address.
    """
    with suppress(AuthenticationFailed, DatabaseError):
        if found := BearerAuthentication().authenticate(request):
            return f"token:{found[1].id}", settings.REST_RATE
        if request.user.is_authenticated:
            return f"user:{request.user.pk}", settings.REST_RATE
    return f"address:{host_of(request.META.get('REMOTE_ADDR', ''))}", settings.REST_ADDRESS_RATE
