"""Middleware that refuses requests before anybody is asked who they are.

Counterpart: ``brokerweb.bodies``, which refuses bodies before Django reads them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse

from brokerweb.api.errors import body
from brokerweb.api.throttles import windows

View = Callable[[HttpRequest], HttpResponse]

METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
"""What some address takes; which of them one does is in its own refusals."""
REST = "/api/"


def known_methods(answer: View) -> View:
    """405 for every other method, wherever it is sent. TRACE would send a cookie's secret back to a script that may not
    read it, and a page that asks for a log-in would answer it with a redirect.
    """

    def door(request: HttpRequest) -> HttpResponse:
        return answer(request) if request.method in METHODS else HttpResponseNotAllowed(METHODS)

    return door


def address_throttle(answer: View) -> View:
    """429 beyond ``REST_ADDRESS_RATE`` requests to REST from one address: of strangers and wrong tokens as well, which
    no throttle of REST framework sees.
    """

    def door(request: HttpRequest) -> HttpResponse:
        if not request.path.startswith(REST):
            return answer(request)
        who = f"address:{request.META.get('REMOTE_ADDR', '')}"
        left_s = windows.wait_s(who, settings.REST_ADDRESS_RATE, time.time())
        if left_s is None:
            return answer(request)
        seconds = math.ceil(left_s)
        sentence = f"Too many requests from this address; try again in {seconds} s."
        refused = body([("", "throttled", sentence)])
        return JsonResponse(refused, status=429, headers={"Retry-After": str(seconds)})

    return door
