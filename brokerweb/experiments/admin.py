"""Experiments and runs in the admin. Runs are history: they can be viewed, cancelled and rerun, but not edited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.contrib.auth.models import User
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from brokerweb.experiments import estimates, labels, services
from brokerweb.experiments.models import Experiment, Run, RunEvent, RunQuerySet, RunState, SavedView, Tag
from brokerweb.kit.admin_confirmation import confirmed
from overlay.core.errors import InvalidSetting
from overlay.experiment.whatif import in_words
from telemetry.formatting import counted

REASON_SHOWN = 120
LAUNCHED = (
    "Runs were launched from this definition, so it cannot be changed. Change the thresholds, which are not part of "
    "a run's configuration, on the experiment's page."
)


class ExperimentForm(forms.ModelForm):
    """Validates the complete definition, like REST."""

    class Meta:
        model = Experiment
        fields = ("definition", "owner", "report_when_done", "demo")

    def clean_definition(self) -> Any:
        body = self.cleaned_data["definition"]
        references = estimates.references_of(body)
        try:
            definition, _ = estimates.checked_body(body, references)
            if references.to_make:
                raise InvalidSetting("topology", f"{references.to_make[0]!r} does not exist; name an existing topology")
        except InvalidSetting as error:
            raise forms.ValidationError(str(error)) from None
        return definition


def _runs(**filters: Any) -> Coalesce:
    """Number of the experiment's runs that match ``filters``."""
    runs = Run.objects.unchanged().filter(experiment=OuterRef("pk"), **filters).order_by().values("experiment")
    return Coalesce(Subquery(runs.annotate(count=Count("pk")).values("count")), 0)


@admin.register(Experiment)
class ExperimentAdmin(admin.ModelAdmin):
    form = ExperimentForm
    list_display = ("name", "id", "owner", "created", "run_count", "failed_count", "report_when_done", "demo", "page")
    list_filter = ("demo", "report_when_done", "owner", "created")
    list_select_related = ("owner",)
    list_per_page = 50
    date_hierarchy = "created"
    search_fields = ("name", "id")
    autocomplete_fields = ("owner",)
    actions = ("launch", "cancel_runs")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Experiment]:
        counts = {"run_count": _runs(), "failed_count": _runs(state=RunState.FAILED)}
        return super().get_queryset(request).annotate(**counts)

    def get_readonly_fields(self, request: HttpRequest, obj: Experiment | None = None) -> tuple[str, ...]:
        """A launched definition is read-only."""
        return ("definition",) if obj is not None and obj.runs.exists() else ()

    def get_fieldsets(self, request: HttpRequest, obj: Experiment | None = None) -> Any:
        fields: dict[str, Any] = {"fields": self.get_fields(request, obj)}
        if self.get_readonly_fields(request, obj):
            fields["description"] = LAUNCHED
        return [(None, fields)]

    @admin.display(description="runs", ordering="run_count")
    def run_count(self, experiment: Any) -> SafeString:
        url = reverse("admin:experiments_run_changelist")
        return format_html('<a href="{}?experiment__id__exact={}">{}</a>', url, experiment.pk, experiment.run_count)

    @admin.display(description="failed", ordering="failed_count")
    def failed_count(self, experiment: Any) -> int:
        return int(experiment.failed_count)

    @admin.display(description="page")
    def page(self, experiment: Experiment) -> SafeString:
        return format_html('<a href="{}">open</a>', reverse("experiments:detail", args=[experiment.pk]))

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

    @admin.action(description="Cancel unfinished runs; data measured so far is kept")
    @confirmed("Cancel all runs of", "Unfinished runs are stopped. Data measured so far is kept.")
    def cancel_runs(self, request: HttpRequest, queryset: QuerySet[Experiment]) -> None:
        for experiment in queryset:
            messages.success(request, f"{experiment.name}: cancelled {services.cancel_all(experiment)} runs.")


class LookedAt(admin.ModelAdmin):
    """Read-only: no adding, changing or deleting."""

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


class TagForm(ActionForm):
    """The tag of the tagging actions."""

    tag = forms.CharField(required=False, max_length=40, label="Tag: ")


class ByValue(admin.AllValuesFieldListFilter):
    """Filter by existing values, with a label for the empty one."""

    def choices(self, changelist: Any) -> Iterator[Any]:
        return ({**one, "display": one["display"] or "none"} for one in super().choices(changelist))


class WhatIf(admin.SimpleListFilter):
    """Filter: what-if runs, or all others."""

    title = "what if"
    parameter_name = "changed"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("no", "as launched"), ("yes", "what-if runs")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Run]) -> QuerySet[Run]:
        runs = cast(RunQuerySet, queryset)
        return runs.changed() if self.value() == "yes" else runs.unchanged() if self.value() == "no" else runs


@admin.register(Run)
class RunAdmin(LookedAt):
    list_display = (
        *("id", "experiment_link", "state", "engine", "verdict", "passed", "kept", "replicate", "what_if", "host"),
        *("created", "ended_at", "why", "page"),
    )
    list_filter = (
        *("state", ("verdict", ByValue), "passed", "kept", WhatIf),
        *(("files_removed", admin.EmptyFieldListFilter), ("host", ByValue), "tags"),
    )
    search_fields = ("id", "experiment__name", "configuration_hash", "note")
    search_help_text = "Id, name of the experiment, hash of the configuration, note"
    list_select_related = ("experiment",)
    date_hierarchy = "created"
    inlines = (EventInline,)
    action_form = TagForm
    actions = ("cancel", "rerun", "keep", "release", "put_tag", "take_tag")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        return super().get_queryset(request).defer("configuration", "summary", "observed", "experiment__definition")

    @admin.display(description="experiment", ordering="experiment__name")
    def experiment_link(self, run: Run) -> SafeString:
        url = reverse("admin:experiments_experiment_change", args=[run.experiment_id])
        return format_html('<a href="{}">{}</a>', url, run.experiment.name)

    @admin.display(description="what if", empty_value="")
    def what_if(self, run: Run) -> str | None:
        return in_words(run.change) if run.change else None

    @admin.display(description="reason")
    def why(self, run: Run) -> str:
        return run.reason[:REASON_SHOWN]

    @admin.display(description="page")
    def page(self, run: Run) -> SafeString:
        return format_html('<a href="{}">open</a>', reverse("runs:detail", args=[run.pk]))

    @admin.action(description="Cancel; data measured so far is kept")
    @confirmed("Cancel", "Unfinished runs are stopped. Data measured so far is kept.")
    def cancel(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        cancelled = services.cancel_each(chosen := _ids(queryset))
        others = " The others had already ended." if cancelled < len(chosen) else ""
        messages.success(request, f"Cancelled {counted(cancelled, 'run')}.{others}")

    @admin.action(description="Rerun with the same seed")
    def rerun(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        again = services.rerun_each(_ids(queryset.order_by("created", "position")), cast(User, request.user))
        messages.success(request, f"Queued {counted(again, 'rerun')}.")

    @admin.action(description="Keep: exempt from retention")
    def keep(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        messages.success(request, f"Kept: {counted(labels.keep_all(_ids(queryset), True), 'run')}.")

    @admin.action(description="Stop keeping: let retention delete their files")
    def release(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        messages.success(request, f"Released: {counted(labels.keep_all(_ids(queryset), False), 'run')}.")

    @admin.action(description="Add the tag")
    def put_tag(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        left = f"The others have {labels.MOST_TAGS} tags, the maximum."
        self._tag(request, queryset, labels.tag_all, "Tagged", left)

    @admin.action(description="Remove the tag")
    def take_tag(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        self._tag(request, queryset, labels.untag_all, "Removed the tag from", "The others did not have it.")

    @staticmethod
    def _tag(request: HttpRequest, queryset: QuerySet[Run], change: Any, done: str, left: str) -> None:
        runs = _ids(queryset)
        try:
            changed = change(runs, labels.tag_name(request.POST.get("tag", "")))
        except InvalidSetting as error:
            messages.error(request, f"{error}. Enter the tag next to the action.")
        else:
            messages.success(request, f"{done} {counted(changed, 'run')}.{f' {left}' if changed < len(runs) else ''}")


def _ids(queryset: QuerySet[Run]) -> list[str]:
    return list(queryset.values_list("pk", flat=True))


@admin.register(Tag)
class TagAdmin(LookedAt):
    list_display = ("name", "run_count")
    search_fields = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Tag]:
        return super().get_queryset(request).annotate(run_count=Count("runs"))

    @admin.display(description="runs", ordering="run_count")
    def run_count(self, tag: Any) -> SafeString:
        url = reverse("admin:experiments_run_changelist")
        return format_html('<a href="{}?tags__id__exact={}">{}</a>', url, tag.pk, tag.run_count)


@admin.register(SavedView)
class SavedViewAdmin(admin.ModelAdmin):
    list_display = ("name", "page", "owner", "query", "created")
    list_filter = ("page", "owner")
    list_select_related = ("owner",)
    search_fields = ("name", "query", "owner__username")
    fields = readonly_fields = ("name", "page", "owner", "query", "created")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # created on the page that it saves
