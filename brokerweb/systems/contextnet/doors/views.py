"""REST: nodes, messages to them, and subscriptions to what they send."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from brokerweb.accounts.rights import Operation
from brokerweb.api.resources import IDEMPOTENCY_KEY, created
from brokerweb.hosting.views import PAGED, Caller, OfNetwork, page
from brokerweb.networks.models import Network
from brokerweb.systems.contextnet.doors import credentials, granting, service, shapes
from brokerweb.systems.contextnet.doors.rows import ROWS
from overlay.core.errors import InvalidSetting, shown
from overlay.systems.contextnet.message_json import node_read
from overlay.systems.contextnet.names import GATEWAY
from overlay.systems.contextnet.records.records import Presence
from overlay.systems.contextnet.system import SYSTEM

FILTERS = [
    OpenApiParameter("connected", bool, description="Only those that are, or are not"),
    OpenApiParameter("gateway", str, description="Only those that are, or were last, at this one: 0 or gateway-0"),
]
DISCARDED_FILTERS = [
    OpenApiParameter("reason", str, enum=shapes.REASONS, description="Only these"),
    OpenApiParameter("node", str, description=f"Only those for this node. {shapes.NODE_HELP}"),
]


class OfContextNet(OfNetwork):
    system = SYSTEM.name

    def network(self, request: Request, pk: str) -> Network:
        return Network.objects.get(pk=self.caller(request, pk).network)


class NodeListView(OfContextNet):
    operations = {"get": Operation.READ}

    @extend_schema(
        operation_id="networks_mobile_nodes_list",
        parameters=[*PAGED, *FILTERS],
        responses=shapes.MobileNodePage,
        filters=False,
    )
    def get(self, request: Request, pk: str) -> Response:
        """Mobile nodes that were ever connected to a network of ContextNet: where, and whether they still are."""
        caller = self.caller(request, pk)
        found = service.nodes(caller)
        if connected := request.query_params.get("connected"):
            if connected not in ("true", "false"):
                raise InvalidSetting("connected", "must be true or false")
            found = [one for one in found if one.connected == (connected == "true")]
        if asked := request.query_params.get("gateway"):
            gateway = _gateway(asked)
            found = [one for one in found if one.gateway == gateway]
        return Response(page(request, _shown(caller, found), shapes.MobileNodeSerializer))


class NodeView(OfContextNet):
    operations = {"get": Operation.READ}

    @extend_schema(operation_id="networks_mobile_node_retrieve", responses=shapes.MobileNodeSerializer)
    def get(self, request: Request, pk: str, node: str) -> Response:
        """One mobile node."""
        caller = self.caller(request, pk)
        (found,) = _shown(caller, [service.node(caller, node)])
        return Response(shapes.MobileNodeSerializer(found).data)


class DiscardedView(OfContextNet):
    operations = {"get": Operation.READ}

    @extend_schema(
        operation_id="networks_mobile_discarded_list",
        parameters=[*PAGED, *DISCARDED_FILTERS],
        responses=shapes.MobileDiscardedPage,
        filters=False,
    )
    def get(self, request: Request, pk: str) -> Response:
        """Messages to mobile nodes that were dropped: they expired, or were evicted from a full store. The newest
        first, at most 1,000, as old as the records of the log may become (`retention_s`)."""
        found = service.discarded(self.caller(request, pk))
        if reason := request.query_params.get("reason"):
            if reason not in shapes.REASONS:
                raise InvalidSetting("reason", f"must be {' or '.join(shapes.REASONS)}, not {shown(reason)}")
            found = [one for one in found if one.of.reason == reason]
        if node := request.query_params.get("node"):
            id = node_read(node)
            found = [one for one in found if one.of.node == id]
        rows = [
            {"id": one.of.id.hex(), "node": one.of.node.hex(), "reason": one.of.reason, "at": one.at_us // 1_000}
            for one in found
        ]
        return Response(page(request, rows, shapes.MobileDiscardedSerializer))


class SecretView(OfContextNet):
    operations = {"post": Operation.CHANGE, "delete": Operation.CHANGE}

    @extend_schema(operation_id="networks_mobile_secret_give", request=None, responses=shapes.MobileSecretSerializer)
    def post(self, request: Request, pk: str, node: str) -> Response:
        """The secret of a mobile node, for its device; after it was revoked another one. It is in the change log."""
        found = credentials.give(self.network(request, pk), node_read(node))
        return Response({"node": node, "secret": found.hex()})

    @extend_schema(operation_id="networks_mobile_secret_revoke", request=None, responses={204: None})
    def delete(self, request: Request, pk: str, node: str) -> Response:
        """Revoke the secret of a mobile node. Gateways close its connection; messages to it are kept until they expire,
        or it returns with another secret."""
        credentials.revoke(self.network(request, pk), node_read(node))
        return Response(status=204)


class SendView(OfContextNet):
    operations = {"post": Operation.PROVIDE}

    @extend_schema(
        operation_id="networks_mobile_send",
        parameters=[IDEMPOTENCY_KEY],
        request=shapes.MobileMessageBody,
        responses={202: shapes.MobileSentSerializer},
    )
    def post(self, request: Request, pk: str) -> Response:
        """Send a message to a mobile node, a group or all nodes. 202 once the log of the network has it.

        A node that is away gets it when it returns, within `ttl_s`. Groups and all: nodes that are connected get it.
        """
        caller, body = self.caller(request, pk), self.parsed(shapes.MobileMessageBody)
        return Response(shapes.MobileSentSerializer(service.send(caller, body)).data, status=202)


class SubscriptionListView(OfContextNet):
    operations = {"post": Operation.PROVIDE}

    @extend_schema(
        operation_id="networks_mobile_subscriptions_list",
        parameters=PAGED,
        responses=shapes.MobileSubscriptionPage,
        filters=False,
    )
    def get(self, request: Request, pk: str) -> Response:
        """Subscriptions of this account in a network of ContextNet."""
        caller = self.caller(request, pk)
        found = ROWS.of_account(caller.network, caller.user)
        return Response(page(request, found, shapes.MobileSubscriptionSerializer))

    @extend_schema(
        operation_id="networks_mobile_subscriptions_create",
        request=shapes.MobileSubscriptionBody,
        responses={201: shapes.MobileSubscriptionSerializer},
    )
    def post(self, request: Request, pk: str) -> Response:
        """Subscribe to messages of mobile nodes. 201 once they come.

        They are sent to `url` by POST, in their order, and again after failures; and to
        `/api/networks/ID/stream/?subscription=ID` as server-sent events.
        """
        caller, body = self.caller(request, pk), self.parsed(shapes.MobileSubscriptionBody)
        begins = service.position(caller)
        row = service.subscribe(caller, body)
        address = f"{request.build_absolute_uri(request.path)}{row.pk}/"
        return created(shapes.MobileSubscriptionSerializer(row, context={"begins": begins}).data, address)


class SubscriptionView(OfContextNet):
    operations = {"delete": Operation.PROVIDE}

    @extend_schema(operation_id="networks_mobile_subscription_retrieve", responses=shapes.MobileSubscriptionSerializer)
    def get(self, request: Request, pk: str, subscription: str) -> Response:
        """One subscription, with what became of its messages."""
        caller = self.caller(request, pk)
        found = ROWS.subscription(caller.network, caller.user, subscription)
        return Response(shapes.MobileSubscriptionSerializer(found).data)

    @extend_schema(operation_id="networks_mobile_subscription_destroy", request=None, responses={204: None})
    def delete(self, request: Request, pk: str, subscription: str) -> Response:
        """Unsubscribe. What waits to be sent to its URL is not sent."""
        caller = self.caller(request, pk)
        service.unsubscribe(ROWS.subscription(caller.network, caller.user, subscription))
        return Response(status=204)


class ApplicationListView(OfContextNet):
    operations = {"get": Operation.READ}

    @extend_schema(
        operation_id="networks_mobile_applications_list",
        parameters=PAGED,
        responses=shapes.MobileApplicationPage,
        filters=False,
    )
    def get(self, request: Request, pk: str) -> Response:
        """Applications that this account has in a network of ContextNet by way of HTTP."""
        caller = self.caller(request, pk)
        found = ROWS.clients(caller.network, caller.user)
        return Response(page(request, found, shapes.MobileApplicationSerializer))


class ApplicationView(OfContextNet):
    operations = {"delete": Operation.PROVIDE}

    @extend_schema(operation_id="networks_mobile_application_destroy", request=None, responses={204: None})
    def delete(self, request: Request, pk: str, name: str) -> Response:
        """End an application, with its subscriptions."""
        service.unregister(self.caller(request, pk), name)
        return Response(status=204)


class UserListView(OfContextNet):
    operations = {"get": Operation.INSPECT}

    @extend_schema(
        operation_id="networks_mobile_users_list",
        parameters=PAGED,
        responses=shapes.MobileUserPage,
        filters=False,
    )
    def get(self, request: Request, pk: str) -> Response:
        """Users that applications have in the log of a network of ContextNet, and what they may do there. For
        operators. 409 if the engine of the log has none of its own, as NATS and Kafka."""
        return Response(page(request, granting.users(self.network(request, pk)), shapes.MobileUserSerializer))


class UserView(OfContextNet):
    operations = {"put": Operation.CHANGE, "delete": Operation.CHANGE}

    @extend_schema(
        operation_id="networks_mobile_user_grant",
        request=shapes.MobileUserBody,
        responses=shapes.MobileNewUserSerializer,
    )
    def put(self, request: Request, pk: str, name: str) -> Response:
        """Give an application a user of its own in the log, which may only use its topics, until it is revoked or the
        network ends. `log` has its password, which no other answer tells: one that has a user gets these rights and
        another password. It is in the change log, without the password."""
        network, body = self.network(request, pk), self.parsed(shapes.MobileUserBody)
        made = granting.grant(network, name, **body)
        told = {**made.granted._asdict(), "log": made.log, "is_kept": made.is_kept}
        return Response(shapes.MobileNewUserSerializer(told).data, headers={"Cache-Control": "no-store"})

    @extend_schema(operation_id="networks_mobile_user_revoke", request=None, responses={204: None})
    def delete(self, request: Request, pk: str, name: str) -> Response:
        """Revoke the user of an application. Its connections to the log end."""
        network = self.network(request, pk)
        if not granting.revoke(network, name):
            raise NotFound(f"{network.name} has granted nothing to {name}.")
        return Response(status=204)


def _gateway(text: str) -> str:
    """The name of a gateway, of which its number is given or the name. Raises ``InvalidSetting``."""
    number = text.removeprefix(f"{GATEWAY}-")
    if not (number.isascii() and number.isdigit() and len(number) < 7):
        raise InvalidSetting("gateway", f"must be a gateway such as 0 or {GATEWAY}-0, not {shown(text)}")
    return f"{GATEWAY}-{int(number)}"


def _shown(caller: Caller, found: Iterable[Presence]) -> list[dict[str, Any]]:
    revoked = credentials.revoked(caller.network)
    return [
        {
            "node": (node := one.node.hex()),
            "connected": one.connected,
            "gateway": one.gateway,
            "epoch": one.epoch,
            "is_revoked": node in revoked,
        }
        for one in found
    ]
