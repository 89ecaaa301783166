"""REST: clients, subscriptions, and to publish and to ask why."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from brokerweb.accounts.rights import Operation
from brokerweb.api.resources import IDEMPOTENCY_KEY, created
from brokerweb.hosting.shapes import wrong_name
from brokerweb.hosting.views import PAGED, OfNetwork, page
from brokerweb.systems.silbops.doors import service, shapes
from brokerweb.systems.silbops.doors.documents import publication_of, scope_of, values_of, where_of
from brokerweb.systems.silbops.doors.rows import ROWS
from brokerweb.systems.silbops.doors.service import Publication
from brokerweb.systems.silbops.doors.why import why
from overlay.core.errors import InvalidSetting
from overlay.systems.silbops.system import SYSTEM


class OfSilbops(OfNetwork):
    system = SYSTEM.name


class ClientListView(OfSilbops):
    operations = {"get": Operation.READ}

    @extend_schema(
        operation_id="networks_pubsub_clients_list", parameters=PAGED, responses=shapes.PubsubClientPage, filters=False
    )
    def get(self, request: Request, pk: str) -> Response:
        """Clients that this account has in a network of SilboPS by way of HTTP."""
        caller = self.caller(request, pk)
        return Response(page(request, ROWS.clients(caller.network, caller.user), shapes.PubsubClientSerializer))


class ClientView(OfSilbops):
    operations = {"put": Operation.PROVIDE, "delete": Operation.PROVIDE}

    @extend_schema(operation_id="networks_pubsub_client_retrieve", responses=shapes.PubsubClientSerializer)
    def get(self, request: Request, pk: str, name: str) -> Response:
        """One client."""
        caller = self.caller(request, pk)
        found = ROWS.client(caller.network, caller.user, name)
        return Response(shapes.PubsubClientSerializer(found).data)

    @extend_schema(
        operation_id="networks_pubsub_client_update",
        request=shapes.PubsubClientBody,
        responses=shapes.PubsubClientSerializer,
    )
    def put(self, request: Request, pk: str, name: str) -> Response:
        """Set the context of a client, or move it to another broker; it is made at its first use.

        Its subscriptions stay as they are, and no notification is lost by a move. 200 once the broker has it.
        """
        caller, body = self.caller(request, pk), self.parsed(shapes.PubsubClientBody)
        if "context" in body:
            body["context"] = values_of("context", body["context"])
        row = service.set_client(caller, _name(name), body)
        return Response(shapes.PubsubClientSerializer(row).data)

    @extend_schema(operation_id="networks_pubsub_client_destroy", request=None, responses={204: None})
    def delete(self, request: Request, pk: str, name: str) -> Response:
        """End a client, with its subscriptions."""
        service.unregister(self.caller(request, pk), name)
        return Response(status=204)


class SubscriptionListView(OfSilbops):
    operations = {"post": Operation.PROVIDE}

    @extend_schema(
        operation_id="networks_pubsub_subscriptions_list",
        parameters=PAGED,
        responses=shapes.PubsubSubscriptionPage,
        filters=False,
    )
    def get(self, request: Request, pk: str) -> Response:
        """Subscriptions of this account in a network of SilboPS."""
        caller = self.caller(request, pk)
        found = ROWS.of_account(caller.network, caller.user)
        return Response(page(request, found, shapes.PubsubSubscriptionSerializer))

    @extend_schema(
        operation_id="networks_pubsub_subscriptions_create",
        request=shapes.PubsubSubscriptionBody,
        responses={201: shapes.PubsubSubscriptionSerializer},
    )
    def post(self, request: Request, pk: str) -> Response:
        """Subscribe by content (`where`) and by context (`scope`). 201 once a broker has it.

        A subscription with a function matches nothing until its client has a context, which can change later without
        subscribing again. Notifications are sent to `url` by POST, in their order, and again after failures; and to
        `/api/networks/ID/stream/?subscription=ID` as server-sent events.
        """
        caller, body = self.caller(request, pk), self.parsed(shapes.PubsubSubscriptionBody)
        where, scope = where_of(body.get("where", [])), scope_of(body["scope"])
        context = values_of("context", body["context"]) if "context" in body else None
        begins = service.position(caller)
        row = service.subscribe(caller, body["client"], where, scope, body["url"], context)
        address = f"{request.build_absolute_uri(request.path)}{row.pk}/"
        return created(shapes.PubsubSubscriptionSerializer(row, context={"begins": begins}).data, address)


class SubscriptionView(OfSilbops):
    operations = {"delete": Operation.PROVIDE}

    @extend_schema(operation_id="networks_pubsub_subscription_retrieve", responses=shapes.PubsubSubscriptionSerializer)
    def get(self, request: Request, pk: str, subscription: str) -> Response:
        """One subscription, with what became of its notifications."""
        caller = self.caller(request, pk)
        found = ROWS.subscription(caller.network, caller.user, subscription)
        return Response(shapes.PubsubSubscriptionSerializer(found).data)

    @extend_schema(operation_id="networks_pubsub_subscription_destroy", request=None, responses={204: None})
    def delete(self, request: Request, pk: str, subscription: str) -> Response:
        """Unsubscribe. What waits to be sent to its URL is not sent."""
        caller = self.caller(request, pk)
        row = ROWS.subscription(caller.network, caller.user, subscription)
        service.unsubscribe(row.client_id, [row.pk])
        return Response(status=204)


class PublishView(OfSilbops):
    operations = {"post": Operation.PROVIDE}

    @extend_schema(
        operation_id="networks_pubsub_publish",
        parameters=[IDEMPOTENCY_KEY],
        request=shapes.PubsubPublicationBody,
        responses={202: shapes.PubsubPublishedSerializer},
    )
    def post(self, request: Request, pk: str) -> Response:
        """Publish a notification with a context. 202 once a broker has received it.

        The client advertises what it publishes, and which variables its contexts have; when these are new, it first
        waits half a second for subscriptions that this calls for.
        """
        caller, body = self.caller(request, pk), self.parsed(shapes.PubsubPublicationBody)
        broker = service.publish(caller, body["client"], Publication(*publication_of(body)))
        return Response({"client": body["client"], "broker": broker}, status=202)


class WhyView(OfSilbops):
    operations = {"post": Operation.PROVIDE}

    @extend_schema(
        operation_id="networks_pubsub_why", request=shapes.PubsubWhyBody, responses=shapes.PubsubWhySerializer
    )
    def post(self, request: Request, pk: str) -> Response:
        """Who would get a publication, broker by broker, and which constraint or function says no. Nothing is sent or
        changed.

        404 for an unknown client; 409 if it has published nothing yet, or not with these variables: it does not
        advertise them, so brokers cannot say. 504 if a broker does not answer.
        """
        caller, body = self.caller(request, pk), self.parsed(shapes.PubsubWhyBody)
        one = Publication(*publication_of(body))
        about = None
        if "subscription" in body:
            about = ROWS.subscription(caller.network, caller.user, body["subscription"])
        found: dict[str, Any] = why(caller, body["client"], one, about)
        return Response(shapes.PubsubWhySerializer(found).data)


def _name(name: str) -> str:
    if not 1 <= len(name) <= 64:
        raise InvalidSetting("name", "must have 1 to 64 characters")
    if wrong := wrong_name(name):
        raise InvalidSetting("name", wrong)
    return name
