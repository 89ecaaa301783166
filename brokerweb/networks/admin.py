"""Networks and hosts in the admin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from brokerweb.experiments.admin import LookedAt
from brokerweb.kit.admin_confirmation import confirmed
from brokerweb.networks import services
from brokerweb.networks.models import Host, Network, NetworkState
from telemetry.formatting import size


@admin.register(Network)
class NetworkAdmin(admin.ModelAdmin):
    list_display = ("name", "topology", "state", "reason", "desired", "host", "epoch", "changed")
    list_filter = ("state", "desired", "host")
    list_select_related = ("topology",)
    date_hierarchy = "created"
    autocomplete_fields = ("owner",)
    search_fields = ("name", "id")
    fields = (
        "name",
        "topology",
        "settings",
        "desired",
        "state",
        "reason",
        "host",
        "epoch",
        "brokers",
        "owner",
        "changed",
    )
    readonly_fields = tuple(field for field in fields if field not in ("name", "owner"))
    actions = ("start", "stop")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # deployments are created by the service, through pages or REST

    def has_delete_permission(self, request: HttpRequest, obj: Network | None = None) -> bool:
        return obj is None or obj.state == NetworkState.STOPPED

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Networks that are not stopped cannot be deleted."""
        to_delete, counts, missing, protected = super().get_deleted_objects(objs, request)
        return to_delete, counts, missing, [*protected, *(one for one in objs if one.state != NetworkState.STOPPED)]

    @admin.action(description="Start")
    def start(self, request: HttpRequest, queryset: QuerySet[Network]) -> None:
        for network in queryset:
            services.start(network)

    @admin.action(description="Stop")
    @confirmed("Stop", "Their brokers stop and lose their data.")
    def stop(self, request: HttpRequest, queryset: QuerySet[Network]) -> None:
        for network in queryset:
            services.stop(network)


@admin.register(Host)
class HostAdmin(LookedAt):
    list_display = ("name", "is_alive", "heartbeat", "problem", "cores", "memory", "version")
    search_fields = ("name",)

    @admin.display(boolean=True, description="alive")
    def is_alive(self, host: Host) -> bool:
        return host.alive

    @admin.display(description="memory")
    def memory(self, host: Host) -> str:
        return size(host.memory_bytes)
