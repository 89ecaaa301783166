"""Bodies of tokens."""

from __future__ import annotations

from rest_framework import serializers

from brokerweb.accounts.models import Scope, Token
from brokerweb.api.shapes.fields import Body


class TokenBody(Body):
    username = serializers.CharField(max_length=150)
    password = serializers.CharField(max_length=1000, trim_whitespace=False)
    name = serializers.CharField(max_length=100, required=False, default="", allow_blank=True)
    scope = serializers.ChoiceField(choices=Scope.choices, required=False, default=Scope.WRITE)


class TokenSerializer(serializers.ModelSerializer):
    class Meta:
        model = Token
        fields = ["id", "name", "scope", "token_key", "created", "expiry"]


class MadeTokenSerializer(TokenSerializer):
    token = serializers.CharField(help_text="Shown once")

    class Meta(TokenSerializer.Meta):
        fields = [*TokenSerializer.Meta.fields, "token"]
