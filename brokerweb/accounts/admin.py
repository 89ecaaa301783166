"""Tokens in the admin: list and revoke. A token's text is shown only once, when it is created."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from brokerweb.accounts.models import Token


@admin.register(Token)
class TokenAdmin(admin.ModelAdmin):
    list_display = ("token_key", "user", "name", "scope", "created", "expiry")
    list_filter = ("scope", "user")
    list_select_related = ("user",)
    search_fields = ("name", "token_key", "user__username")
    date_hierarchy = "created"
    exclude = ("digest",)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
