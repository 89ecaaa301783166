"""Current activity of hosts, for the hosts page: runs, load and queues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from brokerweb.experiments.models import Run
from brokerweb.experiments.states import ACTIVE
from brokerweb.kit.view_guards import page_of, sought
from brokerweb.networks.host_load import loads_of, queue_lengths
from brokerweb.networks.models import DOWN, Host, Network
from brokerweb.reports.models import Report, ReportState
from brokerweb.storage import free_space

RUNS_SHOWN = 3
QUEUES = ("default", "spark")


@dataclass
class HostNow:
    """A host with its activity."""

    host: Host
    load: dict[str, Any]
    """``load_1min``, ``memory_free_bytes`` and ``disk_free_bytes``; empty if unknown."""
    runs: list[Run] = field(default_factory=list)
    runs_more: int = 0
    networks: list[Network] = field(default_factory=list)
    queued: int | None = None
    """Tasks waiting for its worker; ``None`` if unknown."""


def now(hosts: Sequence[Host]) -> list[HostNow]:
    """Hosts with their activity, in a constant number of queries."""
    loads = loads_of(hosts)
    names = [host.name for host in hosts]
    found = {host.name: HostNow(host, loads.get(host.name) or {}) for host in hosts}
    active = Run.objects.filter(host__in=names, state__in=ACTIVE).select_related("experiment")
    for run in active.defer("configuration", "summary", "observed", "experiment__definition").order_by("launched_at"):
        one = found[run.host]
        if len(one.runs) < RUNS_SHOWN:
            one.runs.append(run)
        else:
            one.runs_more += 1
    for network in Network.objects.filter(host__in=names).exclude(state__in=DOWN).defer("deployed"):
        found[network.host].networks.append(network)
    lengths = queue_lengths([f"host.{name}" for name in names])
    for name, one in found.items():
        one.queued = lengths.get(f"host.{name}")
    return list(found.values())


def shared() -> dict[str, Any]:
    """Shared queues (short tasks, Spark) and the current Spark job."""
    computing = Report.objects.filter(state=ReportState.RUNNING).defer("result").first()
    return {"lengths": queue_lengths(QUEUES), "report": computing, "simulating": Run.simulating().count()}


@login_required
def index(request: HttpRequest) -> HttpResponse:
    rows = Host.objects.all()
    if query := sought(request):
        rows = rows.filter(name__icontains=query)
    page = page_of(request, rows)
    limits = {"brokers": settings.MAX_BROKERS, "least_free": free_space.least_free()}
    context = {"page": page, "rows": now(list(page)), "shared": shared(), "limits": limits}
    return render(request, "hosts/now.html" if request.headers.get("HX-Request") else "hosts/list.html", context)
