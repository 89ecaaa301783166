"""REST endpoints that change a network while it runs; each previews its steps with ``dry_run``."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from brokerweb.accounts.asking import access_of
from brokerweb.api.resources import IF_MATCH, Resource, chosen, seen
from brokerweb.api.shapes import network_changes as shapes
from brokerweb.api.shapes.networks import NetworkSerializer
from brokerweb.networks import broker_index, changes, services
from brokerweb.networks.changes import Changed, How
from brokerweb.networks.models import Network
from brokerweb.topologies.models import Topology
from overlay.core.errors import InvalidSetting
from overlay.core.errors import shown as quoted

HOW = [
    OpenApiParameter("dry_run", bool, description="Only list the steps"),
    OpenApiParameter("allow_split", bool, description="Also if some brokers can no longer reach each other"),
    OpenApiParameter("version", int, description="The version that was read; 409 if there is a newer one"),
]
"""Of DELETE, which has no body."""
OWN_TOPOLOGY = "This token is limited to chosen networks. It may apply versions of this network's own topology only."
_YES_OR_NO = {"": False, "true": True, "false": False}


class NetworkChanges(Resource):
    @extend_schema(request=shapes.NetworkPatch, responses=shapes.NetworkChangeSerializer, parameters=[IF_MATCH])
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change the name, or settings.

        Brokers restart with other settings one at a time: each gives its entries to its neighbours before, and the next
        one waits until it answers and has its links again. If one fails, the change pauses (`GET .../rollout/`).
        """
        body = self.parsed(shapes.NetworkPatch)
        name, settings = body.pop("name", None), body.pop("settings", None)
        with transaction.atomic():  # both or neither
            found = changes.set_settings(self.get_object(), settings or {}, self._how(body))
            if name is not None and not found.is_dry:
                changes.rename(self.get_object(), name)
        return shown(found)

    @extend_schema(
        operation_id="networks_broker_drain",
        request=shapes.ChangeBody,
        responses=shapes.NetworkChangeSerializer,
        filters=False,
    )
    @action(detail=True, methods=["post"], url_path="brokers/(?P<index>[0-9]{1,7})/drain")
    def drain(self, request: Request, pk: str, index: str) -> Response:
        """Let a broker give its entries away, leave and stop. It keeps its index, links and address; restart it to have
        it back."""
        network = self.get_object()
        return shown(changes.drain_broker(network, broker_of(network, index), self._how_of(shapes.ChangeBody)))

    @extend_schema(
        operation_id="networks_broker_move",
        request=shapes.ChangeBody,
        responses=shapes.NetworkChangeSerializer,
        filters=False,
    )
    @action(detail=True, methods=["post"], url_path="brokers/(?P<index>[0-9]{1,7})/move")
    def move(self, request: Request, pk: str, index: str) -> Response:
        """Move a broker to another address: one with the same links starts there (`added` has its index), then this one
        gives its entries away and is removed."""
        network = self.get_object()
        return shown(changes.move_broker(network, broker_of(network, index), self._how_of(shapes.ChangeBody)))

    @extend_schema(
        operation_id="networks_links_create",
        request=shapes.LinkBody,
        responses={201: shapes.NetworkChangeSerializer},
        filters=False,
    )
    @action(detail=True, methods=["post"])
    def links(self, request: Request, pk: str) -> Response:
        """Add a link between two brokers."""
        body = self.parsed(shapes.LinkBody)
        a, b = body.pop("a"), body.pop("b")
        return shown(changes.add_link(self.get_object(), a, b, self._how(body)), 201)

    @extend_schema(
        operation_id="networks_links_destroy",
        request=None,
        responses={200: shapes.NetworkChangeSerializer},
        parameters=[OpenApiParameter("a", int, required=True), OpenApiParameter("b", int, required=True), *HOW],
        filters=False,
    )
    @links.mapping.delete
    def cut_link(self, request: Request, pk: str) -> Response:
        """Cut the link between the brokers `a` and `b`. Both keep their data."""
        network = self.get_object()
        a, b = (broker_index.number(request.query_params.get(end, ""), end) for end in ("a", "b"))
        return shown(changes.cut_link(network, a, b, self._how_of_query()))

    @extend_schema(
        operation_id="networks_topology_apply",
        request=shapes.NewTopologyBody,
        responses=shapes.NetworkChangeSerializer,
        filters=False,
    )
    @action(detail=True, methods=["post"], url_path="topology", url_name="topology-apply")
    def apply_topology(self, request: Request, pk: str) -> Response:
        """Apply the newest version of its topology, or another topology, as a difference.

        Brokers that are in both versions keep their index; see the comparison of versions of a topology. A token that
        is limited to networks may apply the network's own topology only.
        """
        network, body = self.get_object(), self.parsed(shapes.NewTopologyBody)
        id = body.pop("topology")
        limit = access_of(request.user, request.auth).limit
        if limit is not None and id not in (None, network.topology_id):  # before it is looked up: a preview shows it
            raise PermissionDenied(OWN_TOPOLOGY)
        topology = chosen(Topology.objects.all(), [id], "topology")[0] if id is not None else None
        return shown(changes.follow_topology(network, topology, self._how(body)))

    @extend_schema(operation_id="networks_rollout_retrieve", responses=shapes.RolloutSerializer, filters=False)
    @action(detail=True, pagination_class=None)
    def rollout(self, request: Request, pk: str) -> Response:
        """How far the newest version has been applied."""
        network = self.get_object()
        found = changes.progress(network, services.worker_missing(network.host))
        return Response(shapes.RolloutSerializer(found).data)

    @extend_schema(operation_id="networks_rollout_resume", request=None, responses=NetworkSerializer, filters=False)
    @action(detail=True, methods=["post"], url_path="rollout/resume", url_name="rollout-resume")
    def resume(self, request: Request, pk: str) -> Response:
        """Restart the brokers that have failed, so that a paused change continues."""
        return self.shown(services.restart_failed(self.get_object(), self.user))

    @extend_schema(
        operation_id="networks_rollout_rollback",
        request=shapes.ChangeBody,
        responses=shapes.NetworkChangeSerializer,
        filters=False,
    )
    @action(detail=True, methods=["post"], url_path="rollout/rollback", url_name="rollout-rollback")
    def roll_back(self, request: Request, pk: str) -> Response:
        """Return to the settings, links and brokers before the last change. Removed brokers stay removed."""
        return shown(changes.roll_back(self.get_object(), self._how_of(shapes.ChangeBody)))

    def _how_of(self, shape: type[BaseSerializer]) -> How:
        return self._how(self.parsed(shape))

    def _how(self, body: dict[str, Any]) -> How:
        version = body["version"] if body["version"] is not None else _version(seen(self.request), "If-Match")
        return How(body["dry_run"], body["allow_split"], version, self.user)

    def _how_of_query(self) -> How:
        query = self.request.query_params
        flags = []
        for name in ("dry_run", "allow_split"):
            if (text := query.get(name, "")) not in _YES_OR_NO:
                raise InvalidSetting(name, f"must be true or false, not {quoted(text, 40)}")
            flags.append(_YES_OR_NO[text])
        said = _version(query.get("version", ""), "version")
        return How(flags[0], flags[1], said, self.user)


def shown(found: Changed, code: int = 200) -> Response:
    return Response(shapes.NetworkChangeSerializer(found).data, 200 if found.is_dry else code)


def broker_of(network: Network, text: str) -> int:
    """The broker index in the path. Raises ``NotFound``."""
    try:
        return broker_index.read(network, text)
    except InvalidSetting:
        raise NotFound("This network has no broker with this index.") from None


def _version(text: str, field: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InvalidSetting(field, f"must be a version of the network, not {quoted(text, 40)}")
    return int(text)
