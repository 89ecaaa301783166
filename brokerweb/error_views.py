"""The pages of unexpected errors, of a full disk and of a damaged file."""

import sys

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.views import defaults

from brokerweb.kit.disk import full_disk_message
from brokerweb.kit.error_body import body
from telemetry.errors import StorageError

CONFLICT, INSUFFICIENT_STORAGE = 409, 507


def server_error(request: HttpRequest) -> HttpResponse:
    """507 with the file if the disk is full, 409 if a stored file is damaged, otherwise 500. Does not use the database.

    REST gets JSON. A part of a page that is loaded on demand gets the sentence as a fragment, which ``session.js``
    shows in its place.
    """
    error = sys.exc_info()[1]
    if request.path.startswith("/api/"):
        return _rest_error(error)
    if full := full_disk_message(error):
        return HttpResponse(render_to_string("507.html", {"full": full}), status=INSUFFICIENT_STORAGE)
    if isinstance(error, StorageError):
        is_part = "HX-Request" in request.headers
        text = render_to_string("parts/damaged.html" if is_part else "409.html", {"damage": str(error)})
        return HttpResponse(text, status=CONFLICT, headers={"X-Shown-In-Place": "1"} if is_part else {})
    return defaults.server_error(request)


def _rest_error(error: BaseException | None) -> HttpResponse:
    """Views have handled most: these are of middleware, and unexpected."""
    if full := full_disk_message(error):
        return JsonResponse(body([("", "disk_full", full)]), status=INSUFFICIENT_STORAGE)
    sentence = "An unexpected error. The log of the web process says more."
    return JsonResponse(body([("", "error", sentence)]), status=500)
