"""Bodies of tokens."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from brokerweb.accounts.models import Scope, Token
from brokerweb.accounts.services import DAYS, MOST_DAYS, MOST_NETWORKS
from brokerweb.api.shapes.fields import Body


class TokenBody(Body):
    username = serializers.CharField(max_length=150)
    password = serializers.CharField(max_length=1000, trim_whitespace=False)
    name = serializers.CharField(max_length=100, required=False, default="", allow_blank=True)
    scope = serializers.ChoiceField(choices=Scope.choices, required=False, default=Scope.WRITE)
    networks = serializers.ListField(
        child=serializers.CharField(max_length=40),
        required=False,
        allow_null=True,
        default=None,
        max_length=MOST_NETWORKS,
        help_text="Ids of the networks that it is limited to: nothing else can be read or changed with it",
    )
    days = serializers.IntegerField(
        required=False, default=DAYS, min_value=1, max_value=MOST_DAYS, help_text="Days until it expires"
    )


class TokenSerializer(serializers.ModelSerializer):
    networks: Any = serializers.ListField(child=serializers.CharField(), allow_null=True, read_only=True)

    class Meta:
        model = Token
        fields = ["id", "name", "scope", "networks", "token_key", "created", "last_used", "expiry"]


class MadeTokenSerializer(TokenSerializer):
    token = serializers.CharField(help_text="Shown once")

    class Meta(TokenSerializer.Meta):
        fields = [*TokenSerializer.Meta.fields, "token"]
