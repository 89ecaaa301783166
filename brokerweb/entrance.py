"""Middleware that refuses requests before any view is asked.

Counterpart: ``brokerweb.bodies``, which refuses bodies before Django reads them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from rest_framework.exceptions import AuthenticationFailed

from brokerweb.accounts.bearer import BearerAuthentication
from brokerweb.kit.error_body import body
from brokerweb.kit.throttles import host_of, windows

View = Callable[[HttpRequest], HttpResponse]

METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
"""What some address takes; which of them one does is in its own refusals."""
REST = "/api/"


def known_methods(answer: View) -> View:
    """405 for every other method, wherever it is sent. TRACE would send a cookie's secret back to a script that may not
    read it, and a page that asks for a log-in would answer it with a redirect.
    """

    def door(request: HttpRequest) -> HttpResponse:
        if request.method in METHODS:
            return answer(request)
        if not request.path.startswith(REST):
            return HttpResponseNotAllowed(METHODS)
        refused = body([("", "method_not_allowed", f"No address takes {request.method:.20}.")])
        return JsonResponse(refused, status=405, headers={"Allow": ", ".join(METHODS)})

    return door


def rest_throttle(answer: View) -> View:
    """429 beyond what REST takes of whoever sends a request, which counts in one budget, whatever is answered: that of
    its token, of its person's browser or, where it has neither, of its address.
    """

    def door(request: HttpRequest) -> HttpResponse:
        if not request.path.startswith(REST):
            return answer(request)
        who, rate = _budget(request)
        left_s = windows.wait_s(who, rate, time.time())
        if left_s is None:
            return answer(request)
        seconds = math.ceil(left_s)
        sentence = f"Too many requests from this {who.partition(':')[0]}; try again in {seconds} s."
        refused = body([("", "throttled", sentence)])
        return JsonResponse(refused, status=429, headers={"Retry-After": str(seconds)})

    return door


def _budget(request: HttpRequest) -> tuple[str, float]:
    """Under which name a request is counted, and how many a second are taken. A wrong token has its address's,
    and so has everybody while the database fails, of which the view tells.
    """
    with suppress(AuthenticationFailed, DatabaseError):
        if found := BearerAuthentication().authenticate(request):
            return f"token:{found[1].id}", settings.REST_RATE
        if request.user.is_authenticated:
            return f"user:{request.user.pk}", settings.REST_RATE
    return f"address:{host_of(request.META.get('REMOTE_ADDR', ''))}", settings.REST_ADDRESS_RATE
