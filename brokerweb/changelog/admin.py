"""The change log in the admin, read-only."""

from __future__ import annotations

from django.contrib import admin

from brokerweb.changelog.models import Change
from brokerweb.experiments.admin import LookedAt


@admin.register(Change)
class ChangeAdmin(LookedAt):
    list_display = ("at", "who", "action", "kind", "name", "source", "request_id")
    list_filter = ("kind", "action", "source")
    search_fields = ("who", "name", "object_id", "request_id")
    date_hierarchy = "at"
