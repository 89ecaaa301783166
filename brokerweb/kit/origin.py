"""Where the current request comes from: its id, and by which interface. Logs and the change log show it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse

from brokerweb.logs import request_id

PAGE, REST, ADMIN, COMMAND, WORKER = "page", "REST", "admin", "command", "worker"
SOURCES = (PAGE, REST, ADMIN, COMMAND, WORKER)
HEADER = "X-Request-Id"
_GOOD = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PREFIXES = (("/api/", REST), ("/admin/", ADMIN))


@dataclass(frozen=True)
class Origin:
    """Of a change."""

    source: str
    request_id: str = ""
    request: HttpRequest | None = None


_process = [COMMAND]
_current: ContextVar[Origin | None] = ContextVar("origin", default=None)


def is_worker() -> None:
    """From here on, this process works without being asked by anyone."""
    _process[0] = WORKER


def origin() -> Origin:
    """Of what is done now; outside a request, that of the process."""
    return _current.get() or Origin(_process[0])


def own_id(given: str) -> str:
    """That of a request: the one it was sent with, if that is well-formed, or a new one."""
    return given if _GOOD.fullmatch(given) else secrets.token_hex(8)


def request_ids(answer: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware, the outermost: each answer has the ``X-Request-Id`` of its request, or a new one if that is missing
    or is not 1 to 64 letters, digits, dots, dashes and underscores.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        own = own_id(request.headers.get(HEADER, ""))
        request.request_id = own  # type: ignore[attr-defined]
        source = next((name for prefix, name in _PREFIXES if request.path.startswith(prefix)), PAGE)
        logged, entered = request_id.set(own), _current.set(Origin(source, own, request))
        try:
            response = answer(request)
        finally:
            _current.reset(entered)
            request_id.reset(logged)
        response[HEADER] = own
        return response

    return middleware
