"""REST endpoint that tries a subscription on recent notifications. Counterpart: ``trying``."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from django.contrib.auth.models import User
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from brokerweb.accounts.rights import Operation
from brokerweb.api.shapes.fields import Body
from brokerweb.networks.models import Network
from brokerweb.networks.of_system import network_of
from brokerweb.systems.federation.doors import rows
from brokerweb.systems.federation.doors.documents import subscription_of
from brokerweb.systems.federation.doors.shapes import (
    KINDS,
    PRIORITIES,
    ExpressionField,
    NotificationSerializer,
    ScopesField,
)
from brokerweb.systems.federation.models import SubscriptionState
from brokerweb.systems.federation.subscribing.covered import covering
from brokerweb.systems.federation.subscribing.recent import MOST, recent
from brokerweb.systems.federation.subscribing.trying import DryRun, Tried, dry_run
from overlay.systems.federation import notification_json
from overlay.systems.federation.language.text import formatted
from overlay.systems.federation.language.tree import read
from overlay.systems.federation.system import SYSTEM

DEFAULT_LIFE = timedelta(hours=1)


class SubscriptionDryRunBody(Body):
    scopes = ScopesField(required=False, max_length=16, default=list, help_text="None: all")
    expression = ExpressionField(
        required=False, help_text='temperature > 25, or ["temperature", ">", 25]; default: all'
    )
    expires = serializers.DateTimeField(required=False, help_text="Decides what covers it. Default: in an hour")
    priority = serializers.ChoiceField(choices=PRIORITIES, required=False, default="normal")
    kind = serializers.ChoiceField(choices=KINDS, required=False, default="stream", help_text="once: a query")


class SaidSerializer(serializers.Serializer):
    predicate = serializers.CharField()
    holds = serializers.BooleanField()
    why = serializers.CharField(help_text="The value that was tested")


class TriedNotificationSerializer(NotificationSerializer):
    brokers = serializers.ListField(child=serializers.IntegerField(), help_text="In whose caches it is")
    holds = serializers.BooleanField(help_text="Whether it satisfies the subscription")
    is_in_scope = serializers.BooleanField()
    said = SaidSerializer(many=True, help_text="The predicates that decide it")


class CoveringSerializer(serializers.Serializer):
    id = serializers.CharField()
    client = serializers.CharField(help_text="Its consumer")
    scopes = serializers.ListField(child=serializers.CharField())
    text = serializers.CharField(help_text="Its expression")
    expires = serializers.DateTimeField()


class SubscriptionDryRunSerializer(serializers.Serializer):
    text = serializers.CharField(help_text="The expression in its text form")
    expression = serializers.ListField(child=serializers.JSONField(), help_text="As nested lists")
    warnings = serializers.ListField(child=serializers.CharField())
    satisfied = serializers.IntegerField()
    brokers_asked = serializers.IntegerField()
    known_scopes = serializers.ListField(child=serializers.CharField())
    covering = serializers.CharField(help_text="The network's setting; off: no subscription is left out")
    covered_by = CoveringSerializer(
        many=True, help_text="Active subscriptions of this account that make it needless on links between brokers"
    )
    rows = TriedNotificationSerializer(many=True, help_text=f"The newest {MOST} notifications")


class DryRunView(APIView):
    network_in = "pk"
    operations = {"post": Operation.READ}

    @extend_schema(
        operation_id="networks_subscription_dry_run",
        request=SubscriptionDryRunBody,
        responses={200: SubscriptionDryRunSerializer},
    )
    def post(self, request: Request, pk: str) -> Response:
        """Which notifications in the caches of a federation's brokers satisfy a subscription, and which predicates
        decide that; and which subscriptions of this account would cover it. Nothing is stored or sent to consumers.

        409 if the network does not run or is of another system, 504 if no broker answers.
        """
        body = SubscriptionDryRunBody(data=request.data)
        body.is_valid(raise_exception=True)
        sent = body.validated_data
        network = network_of(SYSTEM, request, pk)
        found = recent(network)
        tried = dry_run(sent["scopes"], sent.get("expression", ""), found.notifications)
        shown = {
            "brokers_asked": found.asked,
            "known_scopes": found.scopes,
            "covering": str(SYSTEM.read_settings(network.settings).covering),
            "covered_by": _covered_by(network, cast(User, request.user), sent) if sent["scopes"] else [],
        }
        return Response(SubscriptionDryRunSerializer({**_told(tried), **shown}).data)


def _covered_by(network: Network, user: User, sent: dict[str, Any]) -> list[dict[str, Any]]:
    """Raises ``InvalidSetting``."""
    now = timezone.now()
    fields = {"expires": now + DEFAULT_LIFE, **sent, "expression": _expression(sent)}
    composed = subscription_of(fields, round(now.timestamp() * 1_000))
    active = rows.of_account(network.pk, user).filter(state=SubscriptionState.ACTIVE)
    return [
        {
            "id": row.pk,
            "client": row.client.name,
            "scopes": row.scopes,
            "text": formatted(read(row.expression)),
            "expires": row.expires,
        }
        for row in covering(composed, ((row, rows.wanted(row)) for row in active))
    ]


def _expression(sent: dict[str, Any]) -> Any:
    """Empty text is no expression."""
    said = sent.get("expression", "")
    return None if isinstance(said, str) and not said.strip() else said


def _told(tried: DryRun) -> dict[str, Any]:
    shown = list(map(_row, tried.rows))
    return {
        "text": tried.text,
        "expression": tried.expression,
        "warnings": tried.warnings,
        "satisfied": tried.satisfied,
        "rows": shown,
    }


def _row(row: Tried) -> dict[str, Any]:
    shown = notification_json.written(row.recent.notification)
    return {
        **shown,
        "brokers": row.recent.brokers,
        "holds": row.holds,
        "is_in_scope": row.is_in_scope,
        "said": row.said,
    }
