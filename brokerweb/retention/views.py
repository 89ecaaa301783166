"""Pages of what lies on the disk: parse, call one service, show."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render

from brokerweb.experiments import labels
from brokerweb.experiments.models import Run
from brokerweb.kit import stale
from brokerweb.kit.doors import changes, person
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.stale import Outdated
from brokerweb.retention import services
from brokerweb.retention.removal import Plan
from brokerweb.storage.models import Policy, Removal
from overlay.core.errors import InvalidSetting
from telemetry.formatting import count, size

REMOVALS_SHOWN = 20
TITLES = {
    "runs": ("Runs", "journals, traces and recorded messages"),
    "lake": ("Samples", "what clients measured, as Parquet"),
    "simulated": ("Kept simulations", "so that the same is not simulated twice"),
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
    """``newer`` where others had changed the policy: what is stored by now in fields that differ."""
    told, policy = services.told(), services.policy()
    var = sum(told.parts.values())
    shown = [
        {"title": TITLES[name][0], "about": TITLES[name][1], "bytes": weight, "share": weight / var if var else 0}
        for name, weight in told.parts.items()
    ]
    context = {
        "told": told,
        "parts": shown,
        "var_bytes": var,
        "other_bytes": max(0, told.disk.total - told.disk.free - var),
        "policy": policy,
        "values": _values(policy) if sent is None else sent,
        "chosen": _chosen(policy) if sent is None else _booleans(sent),
        "error": error,
        "newer": newer,
        "seen": request.POST.get(stale.SEEN, "") if error else stale.mark(services.stored(policy)),
        "suggested_days": services.SUGGESTED_DAYS,
        "suggested_gb": round(told.disk.total * services.SUGGESTED_SHARE / services.GB),
        "removals": Removal.objects.select_related("by")[:REMOVALS_SHOWN],
    }
    return render(request, "storage/index.html", context, status=400 if error else 200 if newer is None else 409)


def _values(policy: Policy) -> dict[str, str]:
    return {
        "max_days": "" if policy.max_days is None else str(policy.max_days),
        "max_gb": "" if policy.max_bytes is None else _gigabytes(policy.max_bytes),
        "least_free_gb": _gigabytes(policy.least_free_bytes),
    }


def _newer(policy: Policy, sent: QueryDict) -> dict[str, str]:
    """What is stored by now where something else was typed."""
    ticked = {True: "ticked", False: "not ticked"}
    stored = _values(policy) | {name: ticked[value] for name, value in _chosen(policy).items()}
    typed = {name: sent.get(name, "") for name in _values(policy)}
    return stale.newer(stored, typed | {name: ticked[value] for name, value in _booleans(sent).items()})


def _gigabytes(weight: int) -> str:
    return f"{weight / services.GB:.3f}".rstrip("0").rstrip(".")


def _chosen(policy: Policy) -> dict[str, bool]:
    return {name: getattr(policy, name) for name in services.BOOLEANS}


def _booleans(sent: QueryDict) -> dict[str, bool]:
    return {name: name in sent for name in services.BOOLEANS}


def _body(sent: QueryDict) -> dict[str, Any]:
    return {**{name: sent.get(name, "") for name in ("max_days", "max_gb", "least_free_gb")}, **_booleans(sent)}


@changes
def change(request: HttpRequest) -> HttpResponse:
    try:
        policy = services.change(_body(request.POST), person(request), seen=request.POST.get(stale.SEEN, ""))
    except InvalidSetting as error:
        return _page(request, request.POST, error)
    except Outdated:
        return _page(request, request.POST, newer=_newer(services.policy(), request.POST))
    is_on = "What is due is removed within minutes." if policy.is_on else "Nothing is removed by itself."
    messages.success(request, f"Saved. {is_on}")
    return redirect("storage")


@changes
def preview(request: HttpRequest) -> HttpResponse:
    """What the form, as it is filled in now, would remove."""
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
        return "Nothing was due."
    words = (("run", plan.runs), ("kept simulation", plan.simulated), ("report", plan.reports))
    listed = [f"{count(number)} {word}{'s' if number != 1 else ''}" for word, number in words if number]
    return f"Removed the files of {', '.join(listed)}: {size(plan.bytes)}."


@changes
def keep(request: HttpRequest, run_id: str) -> HttpResponse:
    """Has retention pass a run by, or not any more."""
    kept = request.POST.get("kept") == "yes"
    labels.set_kept(get_object_or_404(Run, pk=run_id), kept)
    messages.success(request, "Kept: retention passes this run by." if kept else "Retention may remove its files.")
    return redirect("runs:detail", run_id)
