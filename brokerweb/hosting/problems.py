"""Errors of all that is hosted, as errors of REST."""

from __future__ import annotations

from rest_framework.exceptions import APIException


class HostedElsewhere(APIException):
    """Another process has the clients."""

    status_code = 503
    default_code = "hosted_elsewhere"
    default_detail = "Another web process hosts the clients of networks. Send the request to that one, or try again."
    wait = 5
