"""Querying and storing context on a network's page."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render

from brokerweb.accounts.asking import asked
from brokerweb.front import event_loop
from brokerweb.front.application import SERVICE
from brokerweb.front.replies import Busy
from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.kit.moments import moment
from brokerweb.kit.view_guards import posted
from brokerweb.networks import broker_index
from brokerweb.networks.models import Network
from brokerweb.networks.snapshot import NetworkSnapshot, snapshot_of
from brokerweb.operationlog import recording
from brokerweb.operationlog.entries import GET, PAGE, PUT
from brokerweb.systems.context_broker.context import bodies
from brokerweb.systems.context_broker.context.answers import MISSING, NotThere, QueryResult, age_ms, walk_of
from brokerweb.systems.context_broker.context.bodies import Change
from brokerweb.systems.context_broker.context.plane import PLANE
from brokerweb.systems.context_broker.queries.of_networks import traced_one_in
from brokerweb.systems.contract import How, Key
from overlay.core.addresses import format_address
from overlay.core.errors import InvalidSetting
from overlay.programs.context_broker.pool import Stored
from telemetry.formatting import words

ANSWER = "context_broker/answer.html"


@posted
def context(request: HttpRequest, network_id: str) -> HttpResponse:
    """Query or store context with the operations of the REST interface; renders a fragment."""
    network = get_object_or_404(Network, pk=network_id)
    where: dict[str, Any] = {"network": network, "traced_one_in": traced_one_in(network)}
    who = f"user:{request.user.pk}"
    try:
        if request.POST.get("do") == "provide":
            asked(request).require("provide", network_id)
            return render(request, ANSWER, {"provided": _provide(network, request.POST, who)})
        found = _ask(network, request.POST, who)
    except InvalidSetting as error:
        return render(request, ANSWER, {"problem": f"{words(error.field)}: {error.sentence}"})
    except (NotPossible, NotAnswered, Busy) as error:
        return render(request, ANSWER, {"problem": str(error)})
    except NotThere as absent:
        sentence = f"Not found: {MISSING[0].lower()}{MISSING[1:]}".replace("of this network ", "")
        missing = {"problem": sentence, "problem_kind": "not-found", "trace": absent.trace}
        return render(request, ANSWER, {**where, **missing})
    return render(request, ANSWER, {**where, "trace": found.trace, "answer": _shown(found)})


def _ask(network: Network, data: QueryDict, who: str) -> QueryResult:
    server, is_dry = broker_index.chosen(network, data.get("broker", "")), data.get("dry") == "yes"
    how = How(settings.CONTEXT_DEADLINE_SECONDS, server, is_traced=True, is_dry=is_dry)
    with recording.noted(network.pk, who, PAGE, GET, _key(data), is_dry=is_dry) as said:
        found: QueryResult = event_loop.run(PLANE.ask(snapshot_of(network), bodies.key_of(*_key(data)), how))
        walk = walk_of(network.pk, found.trace) if found.trace else None
        said |= {"broker_index": found.broker_index, "hops": found.hops, "strategy": found.strategy, "walk": walk}
    return found


def _shown(one: QueryResult) -> dict[str, Any]:
    found = one.found
    return {
        "text": found.payload.decode(),
        "provider": found.provider,
        "age_ms": age_ms(found),
        "valid_end": moment(found.valid_end),
        "broker": format_address(found.broker),
        "broker_index": one.broker_index,
    }


def _key(data: QueryDict) -> Key:
    return data.get("type", "").strip(), data.get("entity", "").strip(), data.get("scope", "").strip()


async def _store(snapshot: NetworkSnapshot, change: Change, how: How) -> Stored:
    """One change of an entity at a time, and those that wait for it are woken, as for REST. Raises ``Busy``."""
    about = snapshot.network, change.key
    async with SERVICE.locks.of(about):
        stored = await PLANE.provide(snapshot, change, how)
    SERVICE.waiters.stored(about)
    return stored


def _provide(network: Network, data: QueryDict, who: str) -> dict[str, Any]:
    valid = data.get("valid_ms", "").strip()
    if not (valid.isascii() and valid.isdigit() and len(valid) < 13 and int(valid)):
        raise InvalidSetting("valid_ms", f"must be a whole number of milliseconds, not {valid[:40]!r}")
    provider, payload = data.get("provider", "").strip(), data.get("payload", "").strip()
    how = How(settings.CONTEXT_DEADLINE_SECONDS, broker_index.chosen(network, data.get("broker", "")))
    snapshot = snapshot_of(network)
    with recording.noted(network.pk, who, PAGE, PUT, _key(data), provider) as said:
        change = bodies.change(bodies.key_of(*_key(data)), provider, payload, int(valid))
        stored = event_loop.run(_store(snapshot, change, how))
        said["broker_index"] = snapshot.up[stored.broker]["index"]
    return {
        "broker": format_address(stored.broker),
        "broker_index": snapshot.up[stored.broker]["index"],
        "valid_end": moment(stored.last_ms + change.valid_ms),
    }
