"""REST endpoints of a network's context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from brokerweb.accounts.rights import Operation
from brokerweb.networks import broker_index
from brokerweb.networks.models import Network
from brokerweb.systems.context_broker.context import services, shapes
from overlay.core.errors import InvalidSetting

KEY = [
    OpenApiParameter(name, str, OpenApiParameter.PATH, description="Percent-encoded, a slash as %2F")
    for name in ("type", "entity", "scope")
]
WHOM = [OpenApiParameter("broker", int, description="Index of the broker to query; default: any running broker")]
TRACED = OpenApiParameter(
    "trace", bool, description="Trace the query at every broker; `walk` in the response is the URL of its walk"
)


class ContextView(APIView):
    """Context of one entity and scope, through any broker of a running network."""

    network_in = "pk"
    operations = {"put": Operation.PROVIDE, "delete": Operation.PROVIDE}

    @extend_schema(parameters=[*KEY, *WHOM, TRACED], responses=shapes.ContextSerializer)
    def get(self, request: Request, pk: str, **decoded: str) -> Response:
        """Query context. 404 if no broker has valid data, 504 if no broker answered in time.

        Names are percent-encoded, a slash as `%2F`.
        """
        network = get_object_or_404(Network, pk=pk)
        broker, is_traced = _broker(network, request), _is_traced(request)
        asked = services.ask(network, *_key(request), broker=broker, is_traced=is_traced)
        walk = f"/api/networks/{network.pk}/walks/{asked.trace}/" if asked.trace else None
        if asked.entry is None:
            sentence = "No broker of this network has valid data for this entity and scope."
            raise NotFound(f"{sentence} Its walk: {walk}" if walk else sentence)
        return Response(shapes.ContextSerializer({**asked.entry, "walk": walk}).data)

    @extend_schema(parameters=[*KEY, *WHOM], request=shapes.ContextBody, responses=shapes.ProvidedSerializer)
    def put(self, request: Request, pk: str, **decoded: str) -> Response:
        """Store context. Names are percent-encoded, a slash as `%2F`."""
        body = shapes.ContextBody(data=request.data)
        body.is_valid(raise_exception=True)
        network = get_object_or_404(Network, pk=pk)
        given = services.provide(network, *_key(request), broker=_broker(network, request), **body.validated_data)
        return Response(shapes.ProvidedSerializer(given).data)


class SlashedContextView(ContextView):
    """The same for names with slashes, whose decoded URL has more segments than names."""

    schema = None


def _key(request: Request) -> tuple[str, str, str]:
    """Type, entity and scope from the raw URL. Raises ``NotFound`` and ``InvalidSetting``.

    Django decodes URLs, so that an encoded slash looks like a separator.
    """
    scope: Mapping[str, Any] = getattr(request._request, "scope", {})
    raw = (scope.get("raw_path") or quote(request.path).encode()).split(b"/")
    if raw[-5:-4] != [b"context"] or raw[-1]:
        raise NotFound("The URL must end in context/TYPE/ENTITY/SCOPE/; encode slashes in names as %2F.")
    try:
        type, entity, scope_name = (unquote_to_bytes(part).decode() for part in raw[-4:-1])
    except UnicodeDecodeError as error:
        raise InvalidSetting("entity", f"must be UTF-8, percent-encoded: {error.reason}") from None
    return type, entity, scope_name


def _broker(network: Network, request: Request) -> int | None:
    """The broker to query; ``None`` for any."""
    return broker_index.chosen(network, request.query_params.get("broker", ""))


def _is_traced(request: Request) -> bool:
    said = request.query_params.get("trace", "false")
    if said not in ("true", "false"):
        raise InvalidSetting("trace", f"must be true or false, not {said!r:.40}")
    return said == "true"
