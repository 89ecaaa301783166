"""The way through Django: for browsers, and for all that ``application`` passes on, which is refused here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import quote

from django.http import Http404, HttpResponse
from rest_framework.request import Request as DjangoRequest
from rest_framework.views import APIView

from brokerweb.accounts.rights import Operation
from brokerweb.front import event_loop
from brokerweb.front.budgets import add_in_thread, count_in_thread
from brokerweb.front.principals import who_is
from brokerweb.networks.snapshot import snapshot_or_404
from brokerweb.ngsi.answers import Answer
from brokerweb.ngsi.requests import HEADERS, Request, parameters_of
from brokerweb.ngsi.standards import Target, respond, target_of
from brokerweb.ngsi.store import VIA
from brokerweb.operationlog import recording


class NgsiView(APIView):
    """Every path of both standards. Their documents describe them, so this installation's does not."""

    schema = None
    network_in = "pk"
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]

    @property
    def operations(self) -> Mapping[str, Operation]:
        """Queries that are sent as POST only read."""
        method = str(self.request.method)
        is_write = self._target.is_write(method)
        return {method.lower(): Operation.PROVIDE if is_write else Operation.READ}

    @property
    def _target(self) -> Target:
        asked = self.request._request
        scope: Mapping[str, Any] = getattr(asked, "scope", {})
        found = target_of(scope.get("raw_path") or quote(asked.path).encode())
        if found is None:
            raise Http404
        return found

    def get(self, request: DjangoRequest, pk: str, **decoded: str) -> HttpResponse:
        target = self._target
        snapshot = snapshot_or_404(pk)
        who, spent = who_is(request.user, request.auth), list[int]()
        count_in_thread(who, 1)
        asked = Request(
            method=str(request.method),
            base=target.base,
            path=target.path,
            parameters=parameters_of(
                (name, value) for name, values in request.query_params.lists() for value in values
            ),
            headers={name: value for name in HEADERS if (value := request.headers.get(name)) is not None},
            body=request._request.body,
            snapshot=snapshot,
            who=who,
            spend=spent.append,
        )
        answer = event_loop.run(respond(target.standard, asked))
        add_in_thread(who, sum(spent))
        return _response(answer)

    post = put = patch = delete = get

    def permission_denied(
        self, request: DjangoRequest, message: str | None = None, code: str | None = None
    ) -> NoReturn:
        """It is in the operation log as well."""
        if request.user.is_authenticated:
            key = ("", *self._target.path[1:2], "")
            op = recording.op_of(str(request.method))
            recording.forbidden(self.kwargs["pk"], who_is(request.user, request.auth), VIA, op, key, message or "")
        super().permission_denied(request, message, code)

    def handle_exception(self, exc: Exception) -> Any:
        """In the words of this installation, and the shape of the standard."""
        refused = super().handle_exception(exc)
        standard = self._target.standard
        return _response(standard.refused(refused.status_code, refused.data["sentence"]), refused.headers)


def _response(answer: Answer, more: Mapping[str, str] | None = None) -> HttpResponse:
    response = HttpResponse(answer.body, answer.media_type, answer.status, headers=dict(answer.headers))
    if not answer.body:
        del response["Content-Type"]
    for name, value in (more or {}).items():
        if name.lower() in ("www-authenticate", "allow", "retry-after"):
            response[name] = value
    return response
