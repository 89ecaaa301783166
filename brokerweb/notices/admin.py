"""Notifications in the admin: targets can be enabled, disabled and tested; deliveries are read-only."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from brokerweb.experiments.admin import LookedAt
from brokerweb.notices import services
from brokerweb.notices.models import Delivery, Notice, Target


@admin.register(Target)
class TargetAdmin(LookedAt):
    list_display = ("name", "channel", "where", "enabled", "failures", "note", "owner", "created")
    list_filter = ("channel", "enabled")
    list_select_related = ("owner",)
    search_fields = ("name",)
    exclude = ("secret", "address")
    readonly_fields = ("where",)
    actions = ("test", "switch_on", "switch_off")

    @admin.display(description="address")
    def where(self, target: Target) -> str:
        return services.masked(target)

    @admin.action(description="Send test")
    def test(self, request: HttpRequest, queryset: QuerySet[Target]) -> None:
        for target in queryset:
            services.test(target)
        messages.success(request, "Tests queued. See the deliveries.")

    @admin.action(description="Enable")
    def switch_on(self, request: HttpRequest, queryset: QuerySet[Target]) -> None:
        self._switch(queryset, True)

    @admin.action(description="Disable")
    def switch_off(self, request: HttpRequest, queryset: QuerySet[Target]) -> None:
        self._switch(queryset, False)

    @staticmethod
    def _switch(queryset: QuerySet[Target], enabled: bool) -> None:
        for target in queryset:
            services.change(target, {"enabled": enabled})


@admin.register(Delivery)
class DeliveryAdmin(LookedAt):
    list_display = ("created", "notice", "target", "state", "attempts", "due", "sentence")
    list_filter = ("state", "target", "notice__kind")
    list_select_related = ("notice", "target")
    search_fields = ("notice__title", "target__name", "sentence")
    date_hierarchy = "created"


class DeliveryInline(admin.TabularInline):
    model = Delivery
    extra = 0
    can_delete = False
    fields = readonly_fields = ("target", "state", "attempts", "sentence", "ended_at")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Notice)
class NoticeAdmin(LookedAt):
    list_display = ("at", "kind", "title", "path")
    list_filter = ("kind",)
    search_fields = ("title", "text")
    date_hierarchy = "at"
    inlines = (DeliveryInline,)
