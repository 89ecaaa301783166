"""The page of a request that failed in a way that no view foresaw."""

import sys

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views import defaults

from brokerweb.kit.disk import told_full

INSUFFICIENT_STORAGE = 507


def server_error(request: HttpRequest) -> HttpResponse:
    """507 and the file where the disk is full, else 500. Neither asks the database for anything."""
    if full := told_full(sys.exc_info()[1]):
        return HttpResponse(render_to_string("507.html", {"full": full}), status=INSUFFICIENT_STORAGE)
    return defaults.server_error(request)
