"""REST in JSON: subscriptions, providers, and to publish, query and look up."""

from __future__ import annotations

from urllib.parse import quote

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from brokerweb.accounts.rights import Operation
from brokerweb.api.resources import IDEMPOTENCY_KEY, created
from brokerweb.hosting.views import PAGED, OfNetwork, page
from brokerweb.kit.moments import now_ms
from brokerweb.systems.federation.doors import documents, rows, service, shapes
from brokerweb.systems.federation.models import ClientRole, HostedClient
from overlay.core.errors import InvalidSetting
from overlay.systems.federation import notification_json
from overlay.systems.federation.system import SYSTEM
from overlay.systems.federation.wire.values import Role


class OfFederation(OfNetwork):
    system = SYSTEM.name


class SubscriptionListView(OfFederation):
    """Subscriptions of this account in a network."""

    operations = {"post": Operation.PROVIDE}

    @extend_schema(
        operation_id="networks_subscriptions_list", parameters=PAGED, responses=shapes.SubscriptionPage, filters=False
    )
    def get(self, request: Request, pk: str) -> Response:
        """Active subscriptions of this account, and those that ended within a day."""
        caller = self.caller(request, pk)
        return Response(page(request, rows.of_account(caller.network, caller.user), shapes.SubscriptionSerializer))

    @extend_schema(
        operation_id="networks_subscriptions_create",
        request=shapes.SubscriptionBody,
        responses={201: shapes.SubscriptionSerializer},
    )
    def post(self, request: Request, pk: str) -> Response:
        """Subscribe. 201 once a broker has acknowledged.

        Notifications are sent to `url` by POST, in their order, and again after failures; and to
        `/api/networks/ID/stream/?subscription=ID` as server-sent events. 503 if the broker is at a limit, 504 if none
        answered.
        """
        caller, body = self.caller(request, pk), self.parsed(shapes.SubscriptionBody)
        wanted = documents.subscription_of(body, now_ms())
        begins = service.position(caller)
        (row,) = service.subscribe(caller, [(None, wanted)], client=body.get("client"), url=body["url"])
        address = f"{request.build_absolute_uri(request.path)}{row.pk}/"
        return created(shapes.SubscriptionSerializer(row, context={"begins": begins}).data, address)


class SubscriptionView(OfFederation):
    """One subscription."""

    operations = {"delete": Operation.PROVIDE}

    @extend_schema(operation_id="networks_subscription_retrieve", responses=shapes.SubscriptionSerializer)
    def get(self, request: Request, pk: str, subscription: str) -> Response:
        """One subscription, with what became of its notifications."""
        caller = self.caller(request, pk)
        return Response(
            shapes.SubscriptionSerializer(rows.subscription(caller.network, caller.user, subscription)).data
        )

    @extend_schema(operation_id="networks_subscription_destroy", request=None, responses={204: None})
    def delete(self, request: Request, pk: str, subscription: str) -> Response:
        """Unsubscribe. What waits to be sent to its URL is not sent."""
        caller = self.caller(request, pk)
        row = rows.subscription(caller.network, caller.user, subscription)
        service.unsubscribe(row.client_id, [row.pk])
        return Response(status=204)


class ProviderListView(OfFederation):
    """Providers that this account has registered in a network."""

    operations = {"post": Operation.PROVIDE}

    @extend_schema(
        operation_id="networks_providers_list", parameters=PAGED, responses=shapes.ProviderPage, filters=False
    )
    def get(self, request: Request, pk: str) -> Response:
        """Providers that this account has registered by way of HTTP."""
        caller = self.caller(request, pk)
        found = rows.clients(caller.network, caller.user, ClientRole.PROVIDER)
        return Response(page(request, found, shapes.ProviderSerializer))

    @extend_schema(
        operation_id="networks_providers_create",
        request=shapes.ProviderBody,
        responses={201: shapes.ProviderSerializer},
    )
    def post(self, request: Request, pk: str) -> Response:
        """Register a provider, or change what it advertises. 201 once a broker has acknowledged.

        Its registration is kept until it is deleted, also over restarts. With a `url`, it is asked there by GET
        whenever context is queried; otherwise queries are answered with the newest that it has published.
        """
        caller, body = self.caller(request, pk), self.parsed(shapes.ProviderBody)
        row = service.advertise(caller, documents.advertisement_of(Role.PROVIDER, body), body.get("broker"))
        return created(shapes.ProviderSerializer(row).data, _address(request, row))


class ProviderView(OfFederation):
    """One provider."""

    operations = {"delete": Operation.PROVIDE}

    @extend_schema(operation_id="networks_provider_retrieve", responses=shapes.ProviderSerializer)
    def get(self, request: Request, pk: str, name: str) -> Response:
        """One provider."""
        caller = self.caller(request, pk)
        found = rows.client(caller.network, caller.user, name, ClientRole.PROVIDER)
        return Response(shapes.ProviderSerializer(found).data)

    @extend_schema(operation_id="networks_provider_destroy", request=None, responses={204: None})
    def delete(self, request: Request, pk: str, name: str) -> Response:
        """Unregister a provider."""
        service.unregister(self.caller(request, pk), name, ClientRole.PROVIDER)
        return Response(status=204)


class PublishView(OfFederation):
    operations = {"post": Operation.PROVIDE}

    @extend_schema(
        operation_id="networks_publish",
        parameters=[IDEMPOTENCY_KEY],
        request=shapes.PublishBody,
        responses={202: shapes.NotificationSerializer},
    )
    def post(self, request: Request, pk: str) -> Response:
        """Publish context as a provider that this account has registered. 202 once its broker has accepted it."""
        caller, body = self.caller(request, pk), self.parsed(shapes.PublishBody)
        made = service.publish(caller, body.pop("provider"), documents.content_of(body, now_ms()))
        return Response(notification_json.written(made), status=202)


class QueryView(OfFederation):
    op = "get"
    operations = {"post": Operation.READ}

    @extend_schema(operation_id="networks_query", request=shapes.QueryBody, responses=shapes.QueriedSerializer)
    def post(self, request: Request, pk: str) -> Response:
        """Query context: the broker asks the providers of these scopes. 404 if there are none, 504 without an answer in
        time.
        """
        caller, body = self.caller(request, pk), self.parsed(shapes.QueryBody)
        entity = body.get("entity_type"), body.get("entity_id")
        found = service.query(caller, body["scopes"], *entity, body["deadline_ms"] / 1_000)
        return Response({"notifications": list(map(notification_json.written, found))})


class LookupView(OfFederation):
    op = "list"

    @extend_schema(
        operation_id="networks_lookup",
        parameters=[OpenApiParameter("scope", str, required=True)],
        responses=shapes.LookupSerializer,
    )
    def get(self, request: Request, pk: str) -> Response:
        """The providers of a scope, at most 64."""
        found = service.lookup(self.caller(request, pk), scope_of(request))
        return Response({"results": [{"id": one.id, "endpoint": one.endpoint, "url": one.url} for one in found]})


def scope_of(request: Request) -> str:
    """Raises ``InvalidSetting``."""
    scope = str(request.query_params.get("scope", ""))
    if not 1 <= len(scope.encode(errors="replace")) <= 64:
        raise InvalidSetting("scope", "must be a text of 1 to 64 bytes")
    return scope


def _address(request: Request, row: HostedClient) -> str:
    return f"{request.build_absolute_uri(request.path)}{quote(row.name, safe='')}/"
