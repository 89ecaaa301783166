"""Experiments and runs in the admin. A run's row is what happened: it is looked at, cancelled and rerun, not edited."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from brokerweb.errors import NotPossible
from brokerweb.experiments import services
from brokerweb.experiments.models import Experiment, Run, RunEvent
from overlay.errors import InvalidSetting
from overlay.experiment.definition import normalised


class ExperimentForm(forms.ModelForm):
    """The definition is checked whole, as REST checks it."""

    class Meta:
        model = Experiment
        fields = ("definition", "owner", "report_when_done", "demo")

    def clean_definition(self) -> Any:
        try:
            return normalised(self.cleaned_data["definition"], services.find_topology)
        except InvalidSetting as error:
            raise forms.ValidationError(str(error)) from None


@admin.register(Experiment)
class ExperimentAdmin(admin.ModelAdmin):
    form = ExperimentForm
    list_display = ("name", "id", "owner", "created", "report_when_done", "demo")
    list_filter = ("demo", "owner")
    list_select_related = ("owner",)
    search_fields = ("name", "id")
    actions = ("launch",)

    def save_model(self, request: HttpRequest, obj: Experiment, form: Any, change: bool) -> None:
        obj.name = obj.definition["name"]
        super().save_model(request, obj, form, change)

    @admin.action(description="Launch")
    def launch(self, request: HttpRequest, queryset: QuerySet[Experiment]) -> None:
        for experiment in queryset:
            try:
                launched = services.launch(experiment, cast(User, request.user))
            except InvalidSetting as error:
                messages.error(request, f"{experiment.name}: {error}")
            else:
                messages.success(request, f"{experiment.name}: launched {launched.count} runs.")


class LookedAt(admin.ModelAdmin):
    """Nothing is added, changed or deleted by hand."""

    list_per_page = 50

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class EventInline(admin.TabularInline):
    model = RunEvent
    extra = 0
    can_delete = False
    fields = readonly_fields = ("at", "name", "detail")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Run)
class RunAdmin(LookedAt):
    list_display = ("id", "experiment", "state", "verdict", "replicate", "host", "created", "ended_at", "reason")
    list_filter = ("state", "verdict", "host")
    search_fields = ("id", "experiment__name", "configuration_hash")
    list_select_related = ("experiment",)
    inlines = (EventInline,)
    actions = ("cancel", "rerun")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        return super().get_queryset(request).defer("configuration", "summary", "observed")

    @admin.action(description="Cancel, keeping what was measured")
    def cancel(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        for run in queryset:
            try:
                services.cancel(run)
            except NotPossible as error:
                messages.warning(request, f"{run.pk}: {error}")

    @admin.action(description="Run exactly the same again")
    def rerun(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        for run in queryset:
            services.rerun(run, cast(User, request.user))
