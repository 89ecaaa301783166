"""Shapes of accounts."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from rest_framework import serializers

from brokerweb.accounts import roles
from brokerweb.accounts.rights import Level
from brokerweb.api.shapes.fields import Body
from brokerweb.networks import quotas

LEVELS = [level.value for level in Level]


class AccountSerializer(serializers.ModelSerializer):
    id = serializers.CharField(source="pk", read_only=True)
    role = serializers.SerializerMethodField()
    networks = serializers.SerializerMethodField(help_text="Level by network id: rights beyond the role")
    deployed = serializers.SerializerMethodField(help_text="Networks that it has deployed and not deleted")
    most_deployed = serializers.SerializerMethodField(help_text="How many it may have")

    class Meta:
        model = User
        fields = ["id", "username", "role", "is_active", "last_login", "networks", "deployed", "most_deployed"]
        read_only_fields = fields

    def get_role(self, user: User) -> str:
        return roles.stored_role(user).word

    def get_networks(self, user: User) -> dict[str, str]:
        return roles.rights_of(user)

    def get_deployed(self, user: User) -> int:
        return quotas.networks_of(user).used

    def get_most_deployed(self, user: User) -> int:
        return settings.MAX_NETWORKS


class AccountBody(Body):
    """What an administrator may change."""

    role = serializers.ChoiceField(choices=roles.ROLE_WORDS, required=False)
    is_active = serializers.BooleanField(required=False, help_text="Whether it may log in and use its tokens")
    networks: Any = serializers.DictField(
        child=serializers.ChoiceField(choices=LEVELS),
        required=False,
        help_text="Replaces the rights on single networks: level by network id",
    )
