"""Pages of what-if runs: selection of the change, and the difference."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render

from brokerweb.brokers.names import ServerNames
from brokerweb.brokers.overlay import with_resting_links
from brokerweb.experiments import whatif
from brokerweb.experiments.models import Run, RunState
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.view_guards import form_page, person
from brokerweb.runpage import choices, figure_changes
from brokerweb.topologies import pictures
from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.core.settings import SettingInfo
from overlay.experiment.whatif import CHANGES
from overlay.systems.contract import PROFILE
from overlay.systems.registry import SYSTEMS
from telemetry.formatting import counted

ALL = "all"
"""The form's value for all replicates."""


@form_page
def what_if(request: HttpRequest, run_id: str) -> HttpResponse:
    """The form of the change; on POST, creates the run and redirects to it."""
    run = get_object_or_404(Run.objects.select_related("experiment"), pk=run_id)
    wrong, status = "", 200
    if request.method == "POST":
        try:
            change = change_in(request.POST, _settings(run))
            again, made = _carried_out(run, change, person(request), in_all=request.POST.get("replicates") == ALL)
        except InvalidSetting as error:
            wrong, status = f"{error.sentence[:1].upper()}{error.sentence[1:]}.", 400
        except NotPossible as error:
            wrong, status = str(error), 409
        else:
            messages.success(request, _said(made))
            return redirect("runs:detail", again.id)
    topology = run.configuration["topology"]
    sent = request.POST if wrong else request.GET  # query parameters prefill the form
    replicates = whatif.replicates(run) if run.state == RunState.DONE else []
    context = {
        "run": run,
        "servers": ServerNames.of(run.configuration),
        "can": run.state == RunState.DONE,
        "asks": bool(SYSTEMS[run.system].asking_roles),
        "wrong": wrong,
        "given": sent if sent.get("change") else QueryDict("change=settings"),
        "replicates": len(replicates),
        "estimated_s": sum(one.estimated_s for one in replicates),
        # Live replicates take as long as before, so the estimate is shown.
        "in_all": sent.get("replicates") == ALL if sent.get("change") else run.engine == SIMULATED,
        "settings": choices.of_run(_settings(run), run.configuration["settings"]),
        "last": topology["brokers"] - 1,
        "record_mb": whatif.RECORD_MB,
        "graph": with_resting_links(pictures.of_document(topology), run.configuration),
    }
    return render(request, "runs/what_if.html", context, status=status)


def _carried_out(run: Run, change: dict[str, Any], owner: User, *, in_all: bool) -> tuple[Run, int]:
    """The changed run, and the number of created runs."""
    if not in_all:
        return whatif.what_if(run, change, owner), 1
    again, made = whatif.what_if_in_all(run, change, owner)
    return again, len(made)


def _said(made: int) -> str:
    if not made:
        return "All replicates already have this change. This is the one with the same seed."
    if made == 1:
        return "Queued with the same seed and arrivals. The comparison appears when it is done."
    return f"Queued {counted(made, 'run')} with the same seeds and arrivals. Comparisons appear when they are done."


@login_required
def difference(request: HttpRequest, run_id: str) -> HttpResponse:
    """The difference from the original run: a fragment of the run's page, or a page."""
    run = get_object_or_404(Run.objects.select_related("experiment", "compared_with", "rerun_of"), pk=run_id)
    found = whatif.difference(run)
    context = {
        "run": run,
        "before": whatif.baseline(run),
        "words": whatif.words_of(run),
        "found": found.whole if found else None,
        "figures": figure_changes.of_seeds(found.seeds, ServerNames.of(run.configuration)) if found else [],
        "asks": bool(SYSTEMS[run.system].asking_roles),
        "by_seed": found.seeds if found and len(found.seeds) > 1 else [],
        "left": found.left if found else 0,
        "in_all": urlencode({**_filled_in(run.change), "replicates": ALL}) if run.change else "",
        "curve": {"differences": found.whole.curve} if found else {},
    }
    template = "runs/difference.html" if "HX-Request" in request.headers else "runs/difference_page.html"
    return render(request, template, context)


def change_in(form: QueryDict, settings: list[SettingInfo]) -> dict[str, Any]:
    """The change in a form. Raises ``InvalidSetting``."""
    name = form.get("change", "")
    if name in ("add_link", "cut_link"):
        return {name: [_number(form.get(f"{name}_{end}", ""), name) for end in ("a", "b")]}
    if name == "settings":
        chosen = form.get("setting", "")
        info = next((info for info in settings if info.name == chosen), None)
        if info is None:
            raise InvalidSetting("settings", "select a setting")
        return {name: {chosen: _value(form.get("value", "").strip(), info)}}
    if name not in CHANGES:
        raise InvalidSetting("change", "select a change")
    return {name: _number(form.get(name, ""), name)}


def _filled_in(change: dict[str, Any]) -> dict[str, Any]:
    """The form's values for ``change``."""
    ((name, value),) = change.items()
    if name in ("add_link", "cut_link"):
        return {"change": name, f"{name}_a": value[0], f"{name}_b": value[1]}
    if name == "settings":
        ((setting, to),) = value.items()
        return {"change": name, "setting": setting, "value": ("off", "on")[to] if isinstance(to, bool) else to}
    return {"change": name, name: value}


def _settings(run: Run) -> list[SettingInfo]:
    return [info for info in SYSTEMS[run.configuration["system"]].settings if info.name != PROFILE]


def _number(text: str, field: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise InvalidSetting(field, f"“{text[:20]}” is not a whole number")
    return int(text)


def _value(text: str, info: SettingInfo) -> Any:
    """The input converted to the setting's type."""
    if not text and info.kind != "text":
        raise InvalidSetting(info.name, f"enter a new value for {info.name}")
    if info.kind == "boolean" and text in ("on", "off", "true", "false"):
        return text in ("on", "true")
    if info.kind in ("integer", "number") and text != info.zero:
        try:
            return int(text) if info.kind == "integer" else float(text)
        except ValueError:
            raise InvalidSetting(info.name, f"“{text[:20]}” is not a number") from None
    return text
