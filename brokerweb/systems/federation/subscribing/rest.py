"""REST endpoint that tries a subscription on recent notifications. Counterpart: ``trying``."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from brokerweb.accounts.rights import Operation
from brokerweb.api.shapes.fields import Body
from brokerweb.systems.federation.doors.shapes import ExpressionField, NotificationSerializer, ScopesField
from brokerweb.systems.federation.subscribing.recent import MOST, recent
from brokerweb.systems.federation.subscribing.trying import DryRun, Tried, dry_run
from brokerweb.systems.federation.watching.rest import network_or_refusal
from overlay.systems.federation import notification_json


class SubscriptionDryRunBody(Body):
    scopes = ScopesField(required=False, max_length=16, default=list, help_text="None: all")
    expression = ExpressionField(
        required=False, help_text='temperature > 25, or ["temperature", ">", 25]; default: all'
    )


class SaidSerializer(serializers.Serializer):
    predicate = serializers.CharField()
    holds = serializers.BooleanField()
    why = serializers.CharField(help_text="The value that was tested")


class TriedNotificationSerializer(NotificationSerializer):
    brokers = serializers.ListField(child=serializers.IntegerField(), help_text="In whose caches it is")
    holds = serializers.BooleanField(help_text="Whether it satisfies the subscription")
    is_in_scope = serializers.BooleanField()
    said = SaidSerializer(many=True, help_text="The predicates that decide it")


class SubscriptionDryRunSerializer(serializers.Serializer):
    text = serializers.CharField(help_text="The expression in its text form")
    expression = serializers.ListField(child=serializers.JSONField(), help_text="As nested lists")
    warnings = serializers.ListField(child=serializers.CharField())
    satisfied = serializers.IntegerField()
    brokers_asked = serializers.IntegerField()
    known_scopes = serializers.ListField(child=serializers.CharField())
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
        decide that. Nothing is stored or sent to consumers.

        409 if the network does not run or is of another system, 504 if no broker answers.
        """
        body = SubscriptionDryRunBody(data=request.data)
        body.is_valid(raise_exception=True)
        sent = body.validated_data
        found = recent(network_or_refusal(request, pk))
        tried = dry_run(sent["scopes"], sent.get("expression", ""), found.notifications)
        shown = {"brokers_asked": found.asked, "known_scopes": found.scopes}
        return Response(SubscriptionDryRunSerializer({**_told(tried), **shown}).data)


def _told(tried: DryRun) -> dict[str, Any]:
    rows = list(map(_row, tried.rows))
    return {
        "text": tried.text,
        "expression": tried.expression,
        "warnings": tried.warnings,
        "satisfied": tried.satisfied,
        "rows": rows,
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
