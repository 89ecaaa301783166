"""Reports and schedules in the admin. The hours of a schedule are edited in its periodic task."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from brokerweb.experiments.admin import LookedAt
from brokerweb.kit.admin_confirmation import confirmed
from brokerweb.kit.errors import NotPossible
from brokerweb.reports import schedules, services
from brokerweb.reports.models import Firing, Report, Schedule
from overlay.core.errors import InvalidSetting


@admin.register(Report)
class ReportAdmin(LookedAt):
    list_display = ("id", "kind", "state", "reason", "progress", "schedule", "owner", "created", "ended_at", "page")
    list_filter = ("kind", "state", "schedule", "owner")
    list_select_related = ("owner", "schedule")
    date_hierarchy = "created"
    search_fields = ("id", "experiments__name")
    exclude = ("result", "runs")
    readonly_fields = ("chosen_runs",)
    actions = ("cancel", "again")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        return super().get_queryset(request).defer("result")

    @admin.display(description="page")
    def page(self, report: Report) -> SafeString:
        return format_html('<a href="{}">open</a>', reverse("reports:detail", args=[report.pk]))

    @admin.display(description="individually selected runs")
    def chosen_runs(self, report: Report) -> int:
        return report.runs.count()

    @admin.action(description="Cancel")
    @confirmed("Cancel", "Results computed so far are lost. Reports that have ended are not affected.")
    def cancel(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        for report in queryset:
            try:
                services.cancel(report)
            except NotPossible as error:
                messages.warning(request, f"{report.pk}: {error}")

    @admin.action(description="Create again")
    def again(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        for report in queryset:
            try:
                services.create(
                    kind=report.kind,
                    runs=list(services.light_runs().filter(reports=report)),
                    experiments=list(report.experiments.all()),
                    owner=cast(User, request.user),
                )
            except InvalidSetting as error:
                messages.error(request, f"{report.pk}: {error}")


@admin.register(Schedule)
class ScheduleAdmin(admin.ModelAdmin):
    list_display = ("name", "kind", "when", "enabled", "next", "hours", "page")
    list_filter = ("kind", "periodic_task__enabled")
    list_select_related = ("periodic_task__crontab", "periodic_task__interval")
    search_fields = ("name", "experiments__name")
    fields = ("name", "kind", "experiments", "owner", "hours")
    readonly_fields = ("name", "kind", "hours")
    autocomplete_fields = ("experiments", "owner")
    actions = ("fire", "pause", "resume")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # created together with its periodic task, by the page or REST

    def delete_model(self, request: HttpRequest, obj: Schedule) -> None:
        schedules.delete(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Schedule]) -> None:
        for schedule in queryset:
            schedules.delete(schedule)

    @admin.display
    def when(self, schedule: Schedule) -> str:
        return schedules.in_words(schedule)

    @admin.display(description="next")
    def next(self, schedule: Schedule) -> str:
        times = schedules.next_times(schedule, timezone.now(), 1)
        return f"{times[0]:%Y-%m-%d %H:%M} UTC" if times else "–"

    @admin.display(description="page")
    def page(self, schedule: Schedule) -> SafeString:
        return format_html('<a href="{}">open</a>', reverse("schedules:detail", args=[schedule.pk]))

    @admin.action(description="Run now")
    def fire(self, request: HttpRequest, queryset: QuerySet[Schedule]) -> None:
        for schedule in queryset:
            firing = schedules.fire(schedule.pk, cast(User, request.user))
            if firing is not None and firing.sentence:
                messages.warning(request, f"{schedule.name}: {firing.sentence}")

    @admin.action(description="Pause")
    def pause(self, request: HttpRequest, queryset: QuerySet[Schedule]) -> None:
        for schedule in queryset:
            schedules.change(schedule, enabled=False)

    @admin.action(description="Resume")
    def resume(self, request: HttpRequest, queryset: QuerySet[Schedule]) -> None:
        for schedule in queryset:
            schedules.change(schedule, enabled=True)

    @admin.display(boolean=True)
    def enabled(self, schedule: Schedule) -> bool:
        return schedule.periodic_task.enabled

    @admin.display(description="change its hours")
    def hours(self, schedule: Schedule) -> SafeString:
        url = reverse("admin:django_celery_beat_periodictask_change", args=[schedule.periodic_task_id])
        return format_html('<a href="{}">{}</a>', url, schedule.periodic_task.name)


@admin.register(Firing)
class FiringAdmin(LookedAt):
    list_display = ("at", "schedule", "outcome", "sentence", "report", "by")
    list_filter = ("outcome", "schedule")
    list_select_related = ("schedule", "report", "by")
    search_fields = ("schedule__name", "sentence")
    date_hierarchy = "at"
    exclude = ("runs",)
