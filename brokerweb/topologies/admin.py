"""Topologies in the admin: nodes and links are edited inline and validated on saving."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from brokerweb.kit.view_guards import person
from brokerweb.topologies import services
from brokerweb.topologies.models import Link, Node, Topology
from overlay.core.errors import InvalidSetting
from overlay.core.links import LINK_SETTINGS, LinkShape


class LinkForm(forms.ModelForm):
    """A link, validated as at a launch."""

    class Meta:
        model = Link
        fields = ("a", "b", *(info.name for info in LINK_SETTINGS))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        try:
            given = {info.name: cleaned.get(info.name) for info in LINK_SETTINGS}
            LinkShape(**{name: value for name, value in given.items() if value is not None})
        except InvalidSetting as error:
            self.add_error(error.field if error.field in self.fields else None, error.sentence)
        if cleaned.get("a") is not None and cleaned.get("a") == cleaned.get("b"):
            self.add_error("b", f"links broker {cleaned['a']} to itself")
        return cleaned


class LinksFormSet(forms.BaseInlineFormSet):
    """All links of a topology: unique pairs of existing brokers."""

    def clean(self) -> None:
        super().clean()
        seen: set[frozenset[int]] = set()
        for form in self.forms:
            data = getattr(form, "cleaned_data", {})
            if data.get("DELETE") or data.get("a") is None or data.get("b") is None:
                continue
            a, b = data["a"], data["b"]
            if max(a, b) >= self.instance.brokers:
                there_are = f"valid numbers: 0 to {self.instance.brokers - 1}"
                form.add_error("a" if a > b else "b", f"there is no broker {max(a, b)}; {there_are}")
            elif frozenset((a, b)) in seen:
                form.add_error("b", f"brokers {a} and {b} are already linked")
            seen.add(frozenset((a, b)))


class LinkInline(admin.TabularInline):
    model = Link
    form = LinkForm
    formset = LinksFormSet
    extra = 1
    verbose_name_plural = "links (kept on saving; changing kind, seed or params generates new ones)"


class NodeInline(admin.TabularInline):
    model = Node
    extra = 0
    fields = ("index", "name", "x", "y")


class TopologyForm(forms.ModelForm):
    """The topology's own fields; generator parameters are validated by generating the links."""

    class Meta:
        model = Topology
        fields = ("name", "kind", "brokers", "params", "seed", "owner")

    kind = forms.ChoiceField(choices=[(name, f"{kind.title} ({name})") for name, kind in services.kinds().items()])
    params = forms.JSONField(required=False, initial=dict)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        cleaned["params"] = cleaned.get("params") or {}
        if not self.errors and self.draws_links():
            try:
                wanted = (cleaned["kind"], cleaned["brokers"], cleaned["params"], cleaned["seed"])
                self.graph = services.build_graph(*wanted, links=[] if cleaned["kind"] == services.CUSTOM else None)
            except InvalidSetting as error:
                field = error.field.split(".")[0]
                self.add_error(field if field in self.fields else None, f"{error.field}: {error.sentence}")
        return cleaned

    def draws_links(self) -> bool:
        """Whether saving replaces the links: for a new topology, or if generator parameters changed."""
        return self.instance._state.adding or (
            bool({"kind", "brokers", "params", "seed"} & set(self.changed_data))
            and self.cleaned_data.get("kind") != services.CUSTOM
        )


@admin.register(Topology)
class TopologyAdmin(admin.ModelAdmin):
    form = TopologyForm
    list_display = ("name", "kind", "brokers", "mean_degree", "diameter", "is_connected", "updated")
    list_filter = ("kind",)
    search_fields = ("name",)
    autocomplete_fields = ("owner",)
    readonly_fields = ("shown_measures", "wrong", "created", "updated")
    inlines = (NodeInline, LinkInline)
    actions = ("remeasure",)

    @admin.display(description="mean degree")
    def mean_degree(self, topology: Topology) -> Any:
        return topology.measures.get("mean_degree")

    @admin.display
    def diameter(self, topology: Topology) -> Any:
        return topology.measures.get("diameter")

    @admin.display(boolean=True, description="connected")
    def is_connected(self, topology: Topology) -> Any:
        return topology.measures.get("connected")

    @admin.display(description="measures")
    def shown_measures(self, topology: Topology) -> SafeString:
        pairs = ((name.replace("_", " "), value) for name, value in topology.measures.items())
        return format_html_join(" · ", "{} {}", pairs)

    @admin.display(description="problems")
    def wrong(self, topology: Topology) -> str:
        return " ".join(services.problems(topology)) or "nothing" if not topology._state.adding else ""

    def get_inlines(self, request: HttpRequest, obj: Topology | None) -> Any:
        """Links can be edited after they were generated."""
        return self.inlines if obj is not None else ()

    def save_model(self, request: HttpRequest, obj: Topology, form: Any, change: bool) -> None:
        if graph := getattr(form, "graph", None):
            services.save_graph(obj, graph, person(request))
        else:
            super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        if getattr(form, "graph", None) is None:
            super().save_related(request, form, formsets, change)
        for formset in formsets if hasattr(form, "graph") else ():
            formset.save(commit=False)  # skip: newly generated rows must not be overwritten by the page's
        for sentence in services.remeasure(form.instance, person(request)):
            messages.warning(request, sentence)

    @admin.action(description="Recompute measures and list problems")
    def remeasure(self, request: HttpRequest, queryset: QuerySet[Topology]) -> None:
        for topology in queryset:
            sentences = services.remeasure(topology, person(request))
            level = messages.WARNING if sentences else messages.SUCCESS
            messages.add_message(request, level, f"{topology.name}: {' '.join(sentences) or 'no problems'}")
