"""Reports and schedules in the admin. The hours of a schedule are those of its periodic task, edited there."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from brokerweb.errors import NotPossible
from brokerweb.experiments.admin import LookedAt
from brokerweb.reports import schedules, services
from brokerweb.reports.models import Report, Schedule


@admin.register(Report)
class ReportAdmin(LookedAt):
    list_display = ("id", "kind", "state", "reason", "progress", "owner", "created", "ended_at")
    list_filter = ("kind", "state")
    list_select_related = ("owner",)
    search_fields = ("id", "experiments__name")
    exclude = ("result", "runs")
    readonly_fields = ("chosen_runs",)
    actions = ("cancel", "again")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        return super().get_queryset(request).defer("result")

    @admin.display(description="runs chosen one by one")
    def chosen_runs(self, report: Report) -> int:
        return report.runs.count()

    @admin.action(description="Cancel")
    def cancel(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        for report in queryset:
            try:
                services.cancel(report)
            except NotPossible as error:
                messages.warning(request, f"{report.pk}: {error}")

    @admin.action(description="Make again")
    def again(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        for report in queryset:
            services.create(
                kind=report.kind,
                runs=list(report.runs.all()),
                experiments=list(report.experiments.all()),
                owner=cast(User, request.user),
            )


@admin.register(Schedule)
class ScheduleAdmin(admin.ModelAdmin):
    list_display = ("name", "kind", "when", "enabled", "hours")
    list_select_related = ("periodic_task__crontab", "periodic_task__interval")
    fields = ("name", "kind", "experiments", "owner", "hours")
    readonly_fields = ("hours",)
    filter_horizontal = ("experiments",)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # made together with its periodic task, by the page or REST

    def delete_model(self, request: HttpRequest, obj: Schedule) -> None:
        schedules.delete(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Schedule]) -> None:
        for schedule in queryset:
            schedules.delete(schedule)

    @admin.display
    def when(self, schedule: Schedule) -> str:
        cron, every_s = schedules.words(schedule)
        return cron or f"every {every_s} s"

    @admin.display(boolean=True)
    def enabled(self, schedule: Schedule) -> bool:
        return schedule.periodic_task.enabled

    @admin.display(description="change its hours")
    def hours(self, schedule: Schedule) -> SafeString:
        url = reverse("admin:django_celery_beat_periodictask_change", args=[schedule.periodic_task_id])
        return format_html('<a href="{}">{}</a>', url, schedule.periodic_task.name)
