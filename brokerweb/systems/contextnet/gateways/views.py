"""The page of a run's gateways, and the part of a network's page that drains them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from brokerweb.experiments.models import Run
from brokerweb.experiments.states import ENDED
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.view_guards import changes, person
from brokerweb.networks import broker_index, services
from brokerweb.networks.models import Network
from brokerweb.networks.of_system import of_system
from brokerweb.retention.services import removed_sentence
from brokerweb.systems.contextnet.gateways import charts, draining, of_runs
from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.systems.contextnet.names import DRAIN
from overlay.systems.contextnet.system import SYSTEM
from telemetry.charts.figures import by_id

LISTED = 40
"""Rounds in the table."""
ORDERS = {
    "drain": (True, "{who} is being drained: its nodes are told to move, within the budget of moves."),
    "open": (False, "{who} takes nodes again."),
}
"""By button: whether the drain begins, and what happens."""


@login_required
def of_run(request: HttpRequest, run_id: str) -> HttpResponse:
    """Gateways over time and rounds; as a fragment of the run's page, a table."""
    run = get_object_or_404(Run.objects.select_related("experiment").filter(system=SYSTEM.name), pk=run_id)
    is_part, found = "HX-Request" in request.headers, of_runs.found(run)
    only_moves = request.GET.get("show") != "all"
    context: dict[str, Any] = {
        "run": run,
        "ended": run.state in ENDED,
        "removed": removed_sentence(run),
        "found": found,
        "rows": of_runs.rows(found) if found else (),
        "only_moves": only_moves,
        "is_part": is_part,
    }
    if found is not None and not is_part:
        role = "simulated" if run.engine == SIMULATED else "measured"
        rounds = of_runs.newest(found.rounds, LISTED, only_moves=only_moves)
        context |= {
            "drawn": by_id(charts.drawn(found, role)),
            "rounds": [{"of": one, "since_us": one.at_us - found.begin_us} for one in rounds],
            "further": (sum(one.moves > 0 for one in found.rounds) if only_moves else len(found.rounds)) - len(rounds),
        }
    return render(request, "contextnet/gateway_rows.html" if is_part else "contextnet/gateways.html", context)


of_a_network = of_system(SYSTEM)


@login_required
@of_a_network
def of_network(request: HttpRequest, network: Network) -> HttpResponse:
    """Gateways, and how far they are drained; polled."""
    context = {"network": network, "rows": draining.gateways(network)}
    return render(request, "contextnet/network_gateways.html", context)


@changes
@of_a_network
def order(request: HttpRequest, network: Network, index: str, what: str) -> HttpResponse:
    """One of ``ORDERS``."""
    if what not in ORDERS:
        raise Http404("There is no such order.")
    begins, sentence = ORDERS[what]
    try:
        gateway = broker_index.read(network, index)
        services.operate(network, gateway, DRAIN, begins=begins, by=person(request))
    except InvalidSetting:
        raise Http404("This network has no gateway with this index.") from None
    except NotPossible as error:
        messages.error(request, str(error))
    else:
        messages.success(request, sentence.format(who=broker_index.servers_of(network).full(gateway)))
    return redirect("networks:detail", network.pk)
