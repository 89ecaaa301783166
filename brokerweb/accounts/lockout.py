"""Limits on password guessing and on the cost of checking passwords: each check takes half a second of a core."""

import time
from collections.abc import Callable
from threading import BoundedSemaphore, Lock
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from brokerweb.kit.error_body import body
from brokerweb.kit.throttles import host_of, windows

PASSWORDS_CHECKED = {"/login/", "/admin/login/", "/api/tokens/", "/account/password/"}
"""URLs that check a password sent by a client."""
BUSY_S = 5
"""Retry-After in seconds: by then the requests that wait now have been served."""


def locked_out(request: HttpRequest, credentials: dict[str, Any] | None = None, *_: Any) -> HttpResponse:
    """Status 429 with Retry-After, as JSON below ``/api/`` and as a page elsewhere."""
    seconds = int(settings.AXES_COOLOFF_TIME.total_seconds())
    sentence = f"Too many failed logins for this name from this address. Try again in {seconds // 60} minutes."
    return _refused(request, "locked_out", sentence, seconds)


def password_throttle(answer: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Status 429 beyond ``LOG_IN_RATE`` attempts from one address, whatever names are tried; the lock-out counts by
    name.

    Passwords are checked one at a time so that pages keep the other cores. If too many requests wait for a check, the
    status is 429 as well.
    """
    places, turn = BoundedSemaphore(settings.PASSWORD_CHECKS_WAITING), Lock()

    def wrapper(request: HttpRequest) -> HttpResponse:
        if request.method != "POST" or request.path not in PASSWORDS_CHECKED:
            return answer(request)
        who = f"log-in:{host_of(request.META.get('REMOTE_ADDR', ''))}"
        budget = windows.count(who, settings.LOG_IN_RATE, time.time())
        if budget and budget.is_exceeded:
            sentence = f"Too many login attempts from this address. Try again in {budget.retry_s} s."
            refused = _refused(request, "throttled", sentence, budget.retry_s)
            budget.tell(refused, "log-in")
            return refused
        if not places.acquire(blocking=False):
            sentence = f"Too many concurrent logins. Try again in {BUSY_S} s."
            return _refused(request, "throttled", sentence, BUSY_S)
        try:
            with turn:
                return answer(request)
        finally:
            places.release()

    return wrapper


def _refused(request: HttpRequest, code: str, sentence: str, seconds: int) -> HttpResponse:
    headers = {"Retry-After": str(seconds)}
    if request.path.startswith("/api/"):
        return JsonResponse(body([("", code, sentence)]), status=429, headers=headers)
    page = render(request, "429.html", {"sentence": sentence}, status=429)
    page["Retry-After"] = headers["Retry-After"]
    return page
