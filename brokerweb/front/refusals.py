"""Views on the context of networks, whose refusals are in the operation log."""

from __future__ import annotations

from typing import NoReturn

from rest_framework.request import Request
from rest_framework.views import APIView

from brokerweb.front.principals import who_is
from brokerweb.operationlog import recording
from brokerweb.operationlog.entries import REST


class RecordsRefusals(APIView):
    """What an account may not do is in the operation log as well."""

    op = ""
    """The operation in the log; empty: that of the method."""

    def permission_denied(self, request: Request, message: str | None = None, code: str | None = None) -> NoReturn:
        if request.user.is_authenticated:
            names = [str(value) for name, value in self.kwargs.items() if name != "pk"]
            who, op = who_is(request.user, request.auth), self.op or recording.op_of(str(request.method))
            recording.forbidden(str(self.kwargs["pk"]), who, REST, op, names, message or "")
        super().permission_denied(request, message, code)
