"""How guessing passwords is bounded: what somebody sees who guessed a name's too often, and a bound for all names.

To check a password costs a third of a second of a core, by design (PBKDF2), whether or not there is such a name.
"""

import math
import threading
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from brokerweb.api.errors import body
from brokerweb.api.throttles import windows
from brokerweb.entrance import host_of

View = Callable[[HttpRequest], HttpResponse]

LOG_INS = ("/login/", "/admin/login/", "/api/tokens/")
"""Where passwords are posted to."""
SUCCESS = (201, 302)
MINUTE_S = 60
MOST_WAITING = 8
"""Log-ins that one process takes at a time; others are told to come again, as each that waits keeps a thread."""
BUSY_S = 3


def locked_out(request: HttpRequest, credentials: dict[str, Any] | None = None, *_: Any) -> HttpResponse:
    """Status 429 and when to try again, as JSON below ``/api/`` and as a page elsewhere."""
    seconds = int(settings.AXES_COOLOFF_TIME.total_seconds())
    sentence = f"Too many failed log-ins for this name from this address; try again in {seconds // 60} minutes."
    return _refused(request, "locked_out", sentence, seconds)


def log_in_throttle(answer: View) -> View:
    """Lets one log-in check its password at a time, so that pages keep a core, and refuses further ones from an address
    where ``LOG_IN_FAILURES`` failed within the minute, whatever the names.
    """
    taken, checking = threading.BoundedSemaphore(MOST_WAITING), threading.Lock()

    def door(request: HttpRequest) -> HttpResponse:
        if request.method != "POST" or request.path not in LOG_INS:
            return answer(request)
        who = f"log-in:{host_of(request.META.get('REMOTE_ADDR', ''))}"
        if left_s := windows.full_s(who, settings.LOG_IN_FAILURES, MINUTE_S, time.time()):
            seconds = math.ceil(left_s)
            sentence = f"Too many failed log-ins from this address; try again in {seconds} s."
            return _refused(request, "throttled", sentence, seconds)
        if not taken.acquire(blocking=False):
            sentence = f"Too many log-ins at once; try again in {BUSY_S} s."
            return _refused(request, "throttled", sentence, BUSY_S)
        try:
            with checking:
                response = answer(request)
        finally:
            taken.release()
        if response.status_code not in SUCCESS:
            windows.wait_s(who, settings.LOG_IN_FAILURES, MINUTE_S, time.time())
        return response

    return door


def _refused(request: HttpRequest, code: str, sentence: str, seconds: int) -> HttpResponse:
    headers = {"Retry-After": str(seconds)}
    if request.path.startswith("/api/"):
        return JsonResponse(body([("", code, sentence)]), status=429, headers=headers)
    page = render(request, "429.html", {"sentence": sentence}, status=429)
    page["Retry-After"] = headers["Retry-After"]
    return page
