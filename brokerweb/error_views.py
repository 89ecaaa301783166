"""The page of an unexpected error."""

import sys

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views import defaults

from brokerweb.kit.disk import full_disk_message

INSUFFICIENT_STORAGE = 507


def server_error(request: HttpRequest) -> HttpResponse:
    """507 with the file if the disk is full, otherwise 500. Does not use the database."""
    if full := full_disk_message(sys.exc_info()[1]):
        return HttpResponse(render_to_string("507.html", {"full": full}), status=INSUFFICIENT_STORAGE)
    return defaults.server_error(request)
