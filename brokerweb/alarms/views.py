"""Alarms on the page of a network."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from brokerweb.alarms import services, shown
from brokerweb.alarms.models import Alarm
from brokerweb.kit.quantities import read
from brokerweb.kit.view_guards import changes, person
from brokerweb.networks import broker_index
from brokerweb.networks.models import Network
from overlay.core.errors import InvalidSetting
from telemetry.formatting import words


@login_required
def part(request: HttpRequest, network_id: str) -> HttpResponse:
    """States and log; polled."""
    network = get_object_or_404(Network, pk=network_id)
    return render(request, "alarms/states.html", shown.part(network))


@changes
def add(request: HttpRequest, network_id: str) -> HttpResponse:
    network, data = get_object_or_404(Network, pk=network_id), request.POST
    try:
        services.create(
            network,
            measure=data.get("measure", ""),
            comparison=data.get("comparison", ""),
            value=data.get("value", "").strip(),
            for_s=_seconds(data.get("for", "")),
            clears=data.get("clears", "").strip(),
            broker=broker_index.chosen(network, data.get("of", "")),
            owner=person(request),
        )
    except InvalidSetting as error:
        messages.error(request, f"No alarm was added. {words(error.field)}: {error.sentence}.")
    else:
        messages.success(request, "Alarm added.")
    return redirect(f"{reverse('networks:detail', args=[network_id])}#alarms")


def _seconds(text: str) -> int:
    """Raises ``InvalidSetting``."""
    text = text.strip()
    found = float(text) if text.isascii() and text.isdigit() and len(text) < 8 else read(text, "s")
    if found is None or found != int(found):
        raise InvalidSetting("for", f"must be a time such as 90s, 5m or 0, not {text[:40]!r}")
    return int(found)


@changes
def delete(request: HttpRequest, network_id: str, alarm_id: str) -> HttpResponse:
    alarm = get_object_or_404(Alarm.objects.select_related("network"), pk=alarm_id, network=network_id)
    services.delete(alarm, person(request))
    messages.success(request, "Alarm deleted.")
    return redirect(f"{reverse('networks:detail', args=[network_id])}#alarms")
