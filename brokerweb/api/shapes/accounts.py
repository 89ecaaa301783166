"""Shapes of accounts."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from rest_framework import serializers

from brokerweb.accounts import roles
from brokerweb.accounts.rights import Level
from brokerweb.api.shapes.fields import Body

LEVELS = [level.value for level in Level]


class AccountSerializer(serializers.ModelSerializer):
    id = serializers.CharField(source="pk", read_only=True)
    role = serializers.SerializerMethodField()
    networks = serializers.SerializerMethodField(help_text="Level by network id: rights beyond the role")

    class Meta:
        model = User
        fields = ["id", "username", "role", "is_active", "last_login", "networks"]
        read_only_fields = fields

    def get_role(self, user: User) -> str:
        return roles.stored_role(user).word

    def get_networks(self, user: User) -> dict[str, str]:
        return roles.rights_of(user)


class AccountBody(Body):
    """What an administrator may change."""

    role = serializers.ChoiceField(choices=roles.ROLE_WORDS, required=False)
    is_active = serializers.BooleanField(required=False, help_text="Whether it may log in and use its tokens")
    networks: Any = serializers.DictField(
        child=serializers.ChoiceField(choices=LEVELS),
        required=False,
        help_text="Replaces the rights on single networks: level by network id",
    )
