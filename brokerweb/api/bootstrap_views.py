"""REST endpoints through which clients and brokers find the brokers of a network."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from brokerweb.api.shapes.bootstrap import BootstrapSerializer
from brokerweb.networks.bootstrap import HEALTHY, List, bootstrap_list
from brokerweb.networks.models import Network
from overlay.core.errors import InvalidSetting, shown
from overlay.load.choice import BY, LATENCY, PLACE, Wish

MOST_NAME = 100
FARTHEST = 1e6
WISH = [
    OpenApiParameter(
        "by", str, enum=BY, description="What comes first: the nearest, the least loaded; default: latency"
    ),
    OpenApiParameter(
        "client",
        str,
        description="The client's name, up to 100 characters: brokers that are equally good come in its own order, so "
        "that clients are spread. Without it, the order is that of the figures alone",
    ),
    OpenApiParameter("x", float, description="With `by=place`: where the client is, in the topology's coordinates"),
    OpenApiParameter("y", float, description="The same, downwards"),
]


class NetworkDiscovery:
    """Actions of networks."""

    get_object: Callable[[], Network]

    @extend_schema(
        operation_id="networks_bootstrap_retrieve", parameters=WISH, responses=BootstrapSerializer, filters=False
    )
    @action(detail=True, pagination_class=None)
    def bootstrap(self, request: Request, pk: str) -> Response:
        """The bootstrap list: the healthy brokers, nearest first, and then the others.

        Every running broker is pinged from the web process, at most once a second. Fetch the list again after
        `renew_after_s`, which is also the `max-age` of the answer. A network that does not run has no healthy brokers.
        """
        network, wish = self.get_object(), wish_of(request)
        found = bootstrap_list(network, wish)
        healthy = sum(entry.health == HEALTHY for entry in found.entries)
        checked = datetime.fromtimestamp(found.checked_s, UTC)
        body: dict[str, Any] = {"network": network, "by": wish.by, "healthy": healthy, "checked": checked}
        body |= {"renew_after_s": found.renew_after_s, "brokers": found.entries}
        return _kept(Response(BootstrapSerializer(body).data), found)

    @extend_schema(
        operation_id="networks_bootstrap_text",
        parameters=WISH,
        responses={(200, "text/plain"): OpenApiTypes.STR},
        filters=False,
    )
    def bootstrap_text(self, request: Request, pk: str) -> HttpResponseBase:
        """The healthy brokers of the bootstrap list, one `host:port` a line, nearest first. Empty if there is none."""
        found = bootstrap_list(self.get_object(), wish_of(request))
        return _kept(HttpResponse(found.text, content_type="text/plain; charset=utf-8"), found)


def _kept(response: Any, found: List) -> Any:
    response["Cache-Control"] = f"private, max-age={found.renew_after_s}"
    return response


def wish_of(request: Request) -> Wish:
    """From the query. Raises ``InvalidSetting``."""
    query = request.query_params
    by, who = query.get("by", LATENCY), query.get("client", "")
    if by not in BY:
        raise InvalidSetting("by", f"must be {', '.join(BY[:-1])} or {BY[-1]}, not {shown(by, 40)}")
    if len(who) > MOST_NAME:
        raise InvalidSetting("client", f"must have at most {MOST_NAME} characters, not {len(who)}")
    given = [name for name in ("x", "y") if name in query]
    if by != PLACE:
        if given:
            raise InvalidSetting(given[0], f"belongs to by={PLACE}")
        return Wish(by, who)
    return Wish(by, who, (_coordinate(request, "x"), _coordinate(request, "y")))


def _coordinate(request: Request, name: str) -> float:
    text = request.query_params.get(name, "")
    try:
        value = float(text) if text.isascii() and len(text) <= 40 else float("nan")
    except ValueError:
        value = float("nan")
    if not isfinite(value) or abs(value) > FARTHEST:
        raise InvalidSetting(name, f"must be a number for by={PLACE}, not {shown(text, 40)}")
    return value
