"""Pages of notifications."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import OuterRef, Subquery
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render

from brokerweb.kit import etags
from brokerweb.kit.etags import Outdated
from brokerweb.kit.view_guards import changes, form_page, person
from brokerweb.notices import services, transport
from brokerweb.notices.models import Channel, Delivery, DeliveryState, NoticeKind, Target
from overlay.core.errors import InvalidSetting

DELIVERIES_SHOWN = 20
KINDS = [(kind.value, kind.label) for kind in NoticeKind if kind.value in services.KINDS]


@login_required
def index(request: HttpRequest) -> HttpResponse:
    newest = Delivery.objects.filter(target=OuterRef("pk")).order_by("-created").values("pk")
    targets = list(Target.objects.annotate(newest=Subquery(newest[:1])))
    last = Delivery.objects.in_bulk([one.newest for one in targets if one.newest])
    labels = dict(KINDS)
    rows = [
        {
            "target": target,
            "address": services.masked(target),
            "last": last.get(target.newest),
            "kinds": [labels[kind] for kind in target.kinds if kind in labels],
            "has_all": len(target.kinds) == len(KINDS),
        }
        for target in targets
    ]
    context = {
        "rows": rows,
        "mail_missing": transport.mail_missing(),
        "mail_example": transport.MAIL_EXAMPLE,
        **_deliveries(),
    }
    return render(request, "notices/list.html", context)


@login_required
def deliveries(request: HttpRequest) -> HttpResponse:
    """The live part of the page while deliveries are in progress."""
    return render(request, "notices/deliveries.html", _deliveries())


def _deliveries() -> dict[str, Any]:
    rows = list(Delivery.objects.select_related("target", "notice")[:DELIVERIES_SHOWN])
    return {"deliveries": rows, "moves": any(row.state == DeliveryState.WAITING for row in rows)}


@form_page
def new(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        start = {"channel": request.GET.get("channel", Channel.WEBHOOK), "kinds": list(services.KINDS)}
        return _form(request, start)
    sent = _sent(request.POST)
    try:
        target = services.create(**sent, owner=person(request))
    except InvalidSetting as error:
        return _form(request, sent, error=error)
    messages.success(request, f"Added {target.name}. Send a test to check it.")
    return redirect("notifications")


@form_page
def edit(request: HttpRequest, target_id: str) -> HttpResponse:
    target = get_object_or_404(Target, pk=target_id)
    if request.method != "POST":
        return _form(request, services.stored(target), target)
    sent = _sent(request.POST)
    if not sent["secret"] and "forget_secret" not in request.POST:
        del sent["secret"]
    try:
        services.change(target, sent, seen=request.POST.get(etags.SEEN, ""))
    except InvalidSetting as error:
        return _form(request, sent, target, error)
    except Outdated:
        target.refresh_from_db()
        return _form(request, sent, target, newer=etags.newer(_in_words(services.stored(target)), _in_words(sent)))
    messages.success(request, f"Saved {target.name}.")
    return redirect("notifications")


def _in_words(fields: Mapping[str, Any]) -> dict[str, str]:
    """A target's fields as text."""
    channel, kinds = (
        dict(Channel.choices).get(fields["channel"], ""),
        [label for kind, label in KINDS if kind in fields["kinds"]],
    )
    return {
        "name": fields["name"].strip(),
        "channel": channel,
        "address": fields["address"].strip(),
        "kinds": "; ".join(kinds),
    }


def _sent(data: QueryDict) -> dict[str, Any]:
    fields: dict[str, Any] = {name: data.get(name, "") for name in ("name", "channel", "address", "secret")}
    return {**fields, "kinds": data.getlist("kinds")}


def _form(
    request: HttpRequest,
    sent: dict[str, Any],
    target: Target | None = None,
    error: InvalidSetting | None = None,
    newer: dict[str, str] | None = None,
) -> HttpResponse:
    """``newer`` has the stored values of fields that differ, if the target changed meanwhile."""
    context = {
        "sent": sent,
        "target": target,
        "error": error,
        "newer": newer,
        "seen": request.POST.get(etags.SEEN, "") if error or target is None else etags.mark(services.stored(target)),
        "channels": Channel.choices,
        "kinds": KINDS,
        "mail_missing": transport.mail_missing(),
        "mail_example": transport.MAIL_EXAMPLE,
    }
    return render(request, "notices/form.html", context, status=400 if error else 200 if newer is None else 409)


@changes
def switch(request: HttpRequest, target_id: str) -> HttpResponse:
    """Enable or disable; once enabled again, later events are reported."""
    services.change(get_object_or_404(Target, pk=target_id), {"enabled": request.POST.get("enabled") == "yes"})
    return redirect("notifications")


@changes
def test(request: HttpRequest, target_id: str) -> HttpResponse:
    target = get_object_or_404(Target, pk=target_id)
    services.test(target)
    messages.success(request, f"Test sent to {target.name}. The result appears below.")
    return redirect("notifications")


@changes
def delete(request: HttpRequest, target_id: str) -> HttpResponse:
    target = get_object_or_404(Target, pk=target_id)
    services.delete(target)
    messages.success(request, f"Deleted {target.name}.")
    return redirect("notifications")
