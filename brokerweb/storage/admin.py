"""Retention in the admin, read-only: the policy is set on the storage page, which previews its effect."""

from __future__ import annotations

from django.contrib import admin

from brokerweb.experiments.admin import LookedAt
from brokerweb.storage.models import Policy, Removal
from telemetry.formatting import size


@admin.register(Policy)
class PolicyAdmin(LookedAt):
    list_display = ("__str__", "max_days", "max_size", "include_simulated", "include_reports", "changed", "changed_by")
    list_select_related = ("changed_by",)

    @admin.display(description="at most")
    def max_size(self, policy: Policy) -> str:
        return size(policy.max_bytes)


@admin.register(Removal)
class RemovalAdmin(LookedAt):
    list_display = ("at", "runs", "simulated", "reports", "freed", "by")
    list_filter = ("by",)
    list_select_related = ("by",)
    date_hierarchy = "at"

    @admin.display(description="freed", ordering="bytes")
    def freed(self, removal: Removal) -> str:
        return size(removal.bytes)
