"""Users of the log of a network, for operators; the form that grants, and the buttons that revoke."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.kit.view_guards import changes, needs
from brokerweb.networks.models import Network
from brokerweb.networks.of_system import of_system
from brokerweb.systems.contextnet.doors import granting
from overlay.core.errors import InvalidSetting
from overlay.systems.contextnet.applications.application import GROUP
from overlay.systems.contextnet.applications.rights import RECEIVERS
from overlay.systems.contextnet.system import SYSTEM
from telemetry.formatting import words

of_a_network = of_system(SYSTEM)


@needs("inspect")
@login_required
@of_a_network
def users(request: HttpRequest, network: Network) -> HttpResponse:
    context: dict[str, Any] = {"network": network}
    try:
        context["rows"] = granting.users(network)
    except (NotPossible, NotAnswered) as error:
        context["error"] = str(error)
    else:
        topics = granting.topics_of(SYSTEM.read_settings(network.settings))
        context |= {"topics": topics, "receivers": tuple(RECEIVERS), "group": GROUP}
    return render(request, "contextnet/users.html", context)


@changes
@of_a_network
@never_cache
def grant(request: HttpRequest, network: Network) -> HttpResponse:
    """Shows the address with the password, on this page only."""
    form = request.POST
    name, topics, to = form.get("name", "").strip(), form.getlist("topics"), form.getlist("to")
    try:
        made = granting.grant(network, name, topics, form.get("group", "").strip() or GROUP, to)
    except InvalidSetting as error:
        messages.error(request, f"Nothing was granted. {words(error.field)}: {error.sentence}.")
    except (NotPossible, NotAnswered) as error:
        messages.error(request, f"Nothing was granted. {error}")
    else:
        return render(request, "contextnet/user.html", {"network": network, "made": made})
    return _back(network)


@changes
@of_a_network
def revoke(request: HttpRequest, network: Network, name: str) -> HttpResponse:
    try:
        was_there = granting.revoke(network, name)
    except (NotPossible, NotAnswered) as error:
        messages.error(request, f"Nothing was revoked. {error}")
    else:
        done = f"The user of {name} is revoked." if was_there else f"{name} has no user any more."
        messages.success(request, done)
    return _back(network)


def _back(network: Network) -> HttpResponseRedirect:
    return redirect(f"{reverse('networks:detail', args=[network.pk])}#users")
