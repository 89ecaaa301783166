"""Middleware that refuses requests before anybody is asked who they are.

Counterpart: ``brokerweb.bodies``, which refuses bodies before Django reads them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

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
        if request.method in METHODS:
            return answer(request)
        if not request.path.startswith(REST):
            return HttpResponseNotAllowed(METHODS)
        refused = body([("", "method_not_allowed", f"No address takes {request.method:.20}.")])
        return JsonResponse(refused, status=405, headers={"Allow": ", ".join(METHODS)})

    return door


def address_throttle(answer: View) -> View:
    """429 beyond ``REST_ADDRESS_RATE`` requests a second of strangers, wrong tokens among them, from one address: no
    throttle of REST framework sees them. Who is known has a throttle for each token, and takes nothing from others who
    share the address.
    """

    def door(request: HttpRequest) -> HttpResponse:
        if not request.path.startswith(REST):
            return answer(request)
        who = f"address:{host_of(request.META.get('REMOTE_ADDR', ''))}"
        window_s = settings.REST_WINDOW_S
        most = settings.REST_ADDRESS_RATE * window_s
        left_s = windows.full_s(who, most, window_s, time.time())
        if left_s is None:
            response = answer(request)
            if not _is_known(request):
                windows.wait_s(who, most, window_s, time.time())
            return response
        seconds = math.ceil(left_s)
        sentence = f"Too many requests from this address; try again in {seconds} s."
        refused = body([("", "throttled", sentence)])
        return JsonResponse(refused, status=429, headers={"Retry-After": str(seconds)})

    return door


def _is_known(request: HttpRequest) -> bool:
    """Whether a token or a session said who asked; REST framework puts either's user here."""
    return bool(getattr(getattr(request, "user", None), "is_authenticated", False))


def host_of(address: str) -> str:
    """Who is throttled under ``address``: of IPv6 its /64, all of which one host has."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:  # a Unix socket's peer
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or IPv6Address(int(parsed) >> 64 << 64))
