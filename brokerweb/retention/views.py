"""The storage page."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render

from brokerweb.experiments import labels
from brokerweb.experiments.models import Run
from brokerweb.kit import etags
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.etags import Outdated
from brokerweb.kit.view_guards import changes, person
from brokerweb.retention import services
from brokerweb.retention.removal import Plan
from brokerweb.storage.models import Policy, Removal
from overlay.core.errors import InvalidSetting
from telemetry.formatting import count, size

REMOVALS_SHOWN = 20
TITLES = {
    "runs": ("Runs", "journals, traces and recorded messages"),
    "lake": ("Samples", "samples of clients, as Parquet"),
    "simulated": ("Cached simulations", "results of earlier simulations"),
    "reports": ("Reports", "their files"),
    "database": ("Database", "rows and summaries"),
    "logs": ("Logs", "of the processes"),
}


@login_required
def index(request: HttpRequest) -> HttpResponse:
    return _page(request)


def _page(
    request: HttpRequest,
    sent: QueryDict | None = None,
    error: InvalidSetting | None = None,
    newer: dict[str, str] | None = None,
) -> HttpResponse:
    """``newer`` has the stored values of fields that differ, if the policy changed meanwhile."""
    usage, policy = services.usage(), services.policy()
    var = sum(usage.parts.values())
    shown = [
        {"title": TITLES[name][0], "about": TITLES[name][1], "bytes": weight, "share": weight / var if var else 0}
        for name, weight in usage.parts.items()
    ]
    context = {
        "usage": usage,
        "parts": shown,
        "var_bytes": var,
        "other_bytes": max(0, usage.disk.total - usage.disk.free - var),
        "policy": policy,
        "values": _values(policy) if sent is None else sent,
        "chosen": _chosen(policy) if sent is None else _booleans(sent),
        "error": error,
        "newer": newer,
        "seen": request.POST.get(etags.SEEN, "") if error else etags.mark(services.stored(policy)),
        "suggested_days": services.SUGGESTED_DAYS,
        "suggested_gb": round(usage.disk.total * services.SUGGESTED_SHARE / services.GB),
        "removals": Removal.objects.select_related("by")[:REMOVALS_SHOWN],
    }
    return render(request, "storage/index.html", context, status=400 if error else 200 if newer is None else 409)


def _values(policy: Policy) -> dict[str, str]:
    return {
        "max_days": "" if policy.max_days is None else str(policy.max_days),
        "max_gb": "" if policy.max_bytes is None else _gigabytes(policy.max_bytes),
        "least_free_gb": _gigabytes(policy.least_free_bytes),
        **{name: str(getattr(policy, name)) for name in services.OF_CHANGES},
    }


def _newer(policy: Policy, sent: QueryDict) -> dict[str, str]:
    """Stored values of fields with other input."""
    ticked = {True: "ticked", False: "not ticked"}
    values = {name: value for name, value in _values(policy).items() if name in sent}
    stored = values | {name: ticked[value] for name, value in _chosen(policy).items()}
    typed = {name: sent.get(name, "") for name in values}
    return etags.newer(stored, typed | {name: ticked[value] for name, value in _booleans(sent).items()})


def _gigabytes(weight: int) -> str:
    return f"{weight / services.GB:.3f}".rstrip("0").rstrip(".")


def _chosen(policy: Policy) -> dict[str, bool]:
    return {name: getattr(policy, name) for name in services.BOOLEANS}


def _booleans(sent: QueryDict) -> dict[str, bool]:
    return {name: name in sent for name in services.BOOLEANS}


def _body(sent: QueryDict) -> dict[str, Any]:
    of_changes = {name: sent[name] for name in services.OF_CHANGES if name in sent}
    files = {name: sent.get(name, "") for name in ("max_days", "max_gb", "least_free_gb")}
    return {**files, **of_changes, **_booleans(sent)}


@changes
def change(request: HttpRequest) -> HttpResponse:
    try:
        policy = services.change(_body(request.POST), person(request), seen=request.POST.get(etags.SEEN, ""))
    except InvalidSetting as error:
        return _page(request, request.POST, error)
    except Outdated:
        return _page(request, request.POST, newer=_newer(services.policy(), request.POST))
    is_on = "Expired files are deleted within minutes." if policy.is_on else "Nothing is deleted automatically."
    messages.success(request, f"Saved. {is_on}")
    return redirect("storage")


@changes
def preview(request: HttpRequest) -> HttpResponse:
    """Preview of the form's policy."""
    try:
        context: dict[str, Any] = {"plan": services.preview(_body(request.POST)), "limited": _limited(request.POST)}
    except InvalidSetting as error:
        context = {"error": error}
    return render(request, "storage/preview.html", context)


def _limited(sent: QueryDict) -> bool:
    return any(sent.get(name, "").strip() for name in ("max_days", "max_gb"))


@changes
def apply(request: HttpRequest) -> HttpResponse:
    try:
        messages.success(request, _removed(services.apply_now(person(request))))
    except NotPossible as error:
        messages.error(request, str(error))
    return redirect("storage")


def _removed(plan: Plan) -> str:
    if not plan.items:
        return "No files had expired."
    words = (("run", plan.runs), ("cached simulation", plan.simulated), ("report", plan.reports))
    listed = [f"{count(number)} {word}{'s' if number != 1 else ''}" for word, number in words if number]
    return f"Deleted the files of {', '.join(listed)}: {size(plan.bytes)}."


@changes
def keep(request: HttpRequest, run_id: str) -> HttpResponse:
    """Exempts a run from retention, or no longer."""
    kept = request.POST.get("kept") == "yes"
    labels.set_kept(get_object_or_404(Run, pk=run_id), kept)
    messages.success(request, "Kept: exempt from retention." if kept else "Retention may delete its files.")
    return redirect("runs:detail", run_id)
