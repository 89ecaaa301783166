"""Querying and storing context on a network's page."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render

from brokerweb.accounts.asking import asked
from brokerweb.kit.errors import NotAnswered
from brokerweb.kit.view_guards import posted
from brokerweb.networks import broker_index
from brokerweb.networks.models import Network
from brokerweb.systems.context_broker.context import services
from brokerweb.systems.context_broker.queries.of_networks import traced_one_in
from overlay.core.errors import InvalidSetting
from telemetry.formatting import words


@posted
def context(request: HttpRequest, network_id: str) -> HttpResponse:
    """Query or store context with the service of the REST interface; renders a fragment."""
    network = get_object_or_404(Network, pk=network_id)
    try:
        if request.POST.get("do") == "provide":
            asked(request).require("provide", network_id)
            return render(request, "context_broker/answer.html", {"provided": _provide(network, request.POST)})
        broker = broker_index.chosen(network, request.POST.get("broker", ""))
        found = services.ask(network, *_key(request.POST), broker=broker, is_traced=True)
    except InvalidSetting as error:
        return render(request, "context_broker/answer.html", {"problem": f"{words(error.field)}: {error.sentence}"})
    except (services.NotRunning, NotAnswered) as error:
        return render(request, "context_broker/answer.html", {"problem": str(error)})
    answer = "context_broker/answer.html"
    where = {"network": network, "trace": found.trace, "traced_one_in": traced_one_in(network)}
    if found.entry is None:
        sentence = "Not found: no broker has valid data for this entity and scope."
        return render(
            request, "context_broker/answer.html", {**where, "problem": sentence, "problem_kind": "not-found"}
        )
    return render(request, answer, {**where, "answer": found.entry})


def _key(data: QueryDict) -> tuple[str, str, str]:
    return data.get("type", "").strip(), data.get("entity", "").strip(), data.get("scope", "").strip()


def _provide(network: Network, data: QueryDict) -> dict[str, Any]:
    valid = data.get("valid_ms", "").strip()
    if not (valid.isascii() and valid.isdigit() and len(valid) < 13 and int(valid)):
        raise InvalidSetting("valid_ms", f"must be a whole number of milliseconds, not {valid[:40]!r}")
    payload = data.get("payload", "").strip()
    return services.provide(
        network,
        *_key(data),
        provider=data.get("provider", "").strip(),
        payload=payload,
        valid_ms=int(valid),
        broker=broker_index.chosen(network, data.get("broker", "")),
    )
