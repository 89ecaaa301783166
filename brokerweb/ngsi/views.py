"""The way through Django: for browsers, and for all that ``door`` passes on, which is refused here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from django.http import Http404, HttpResponse
from rest_framework.request import Request as DjangoRequest
from rest_framework.views import APIView

from brokerweb.accounts.models import Token
from brokerweb.accounts.rights import Operation
from brokerweb.front import door
from brokerweb.networks.sight import look
from brokerweb.ngsi.answers import Answer
from brokerweb.ngsi.requests import HEADERS, Request
from brokerweb.ngsi.standards import Target, respond, target_of
from overlay.core.errors import InvalidSetting


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
        sight = look(pk)
        if sight is None:
            raise Http404
        token = request.auth if isinstance(request.auth, Token) else None
        asked = Request(
            method=str(request.method),
            base=target.base,
            path=target.path,
            parameters=parameters_of(request.query_params.lists()),
            headers={name: value for name in HEADERS if (value := request.headers.get(name)) is not None},
            body=request._request.body,
            sight=sight,
            who=f"user:{request.user.pk}" if token is None else f"token:{token.id}",
        )
        return _response(door.run(respond(target.standard, asked)))

    post = put = patch = delete = get

    def handle_exception(self, exc: Exception) -> Any:
        """In the words of this installation, and the shape of the standard."""
        refused = super().handle_exception(exc)
        standard = self._target.standard
        return _response(standard.refused(refused.status_code, refused.data["sentence"]), refused.headers)


def parameters_of(given: Any) -> Mapping[str, str]:
    """Raises ``InvalidSetting`` for one that is given twice."""
    found: dict[str, str] = {}
    for name, values in given:
        if len(values) > 1:
            raise InvalidSetting(f"{name:.40}", "is given twice")
        found[name] = values[0]
    return found


def _response(answer: Answer, more: Mapping[str, str] | None = None) -> HttpResponse:
    response = HttpResponse(answer.body, answer.media_type, answer.status, headers=dict(answer.headers))
    if not answer.body:
        del response["Content-Type"]
    for name, value in (more or {}).items():
        if name.lower() in ("www-authenticate", "allow", "retry-after"):
            response[name] = value
    return response
