"""The replay of a recorded run: the overlay, a time slider and the messages. Counterpart: ``run_messages.Replay``."""

from __future__ import annotations

from dataclasses import asdict

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from brokerweb.brokers import overlay
from brokerweb.brokers.names import ServerNames
from brokerweb.experiments import whatif
from brokerweb.experiments.models import Run
from brokerweb.kit.errors import NotPossible
from brokerweb.systems.tags import system_title
from brokerweb.wirelab.labs import lab_of, messages_of
from brokerweb.wirelab.run_messages import Replay
from telemetry.lake import history
from telemetry.lake.runs import Lake, RunFiles
from telemetry.live.event_words import EventWords
from telemetry.live.marks import Mark, marks_of
from telemetry.summary.processes import Servers
from telemetry.systems.registry import telemetry_of


@login_required
def index(request: HttpRequest, run_id: str) -> HttpResponse:
    run = get_object_or_404(Run.objects.select_related("experiment"), pk=run_id)
    lab = lab_of(run.system)
    messages = None if lab is None else messages_of(lab)
    replay = _replay(run)
    overview, servers = replay.overview if replay else None, ServerNames.of(run.configuration)
    context = {
        "run": run,
        "lab": lab,
        "other": "" if messages and messages.can_replay else system_title(run.system),
        "overview": overview,
        "record_mb": whatif.RECORD_MB,
        "servers": servers,
        "graph": overlay.of_run(run.configuration, servers),
        "families": [(name, title, replay.overview.families[name]) for name, title in replay.titles.items()]
        if replay
        else [],
        "replay": _document(replay, servers) if replay else {},
        "marks": marks(run, dict(overview.brokers)) if overview else [],
    }
    return render(request, "runs/replay.html", context)


def _replay(run: Run) -> Replay | None:
    lab = lab_of(run.system)
    try:
        return None if lab is None else messages_of(lab).replay(run)
    except NotPossible:
        return None


def _document(replay: Replay, servers: ServerNames) -> dict[str, object]:
    """For ``static/js/replay.js``."""
    named = {index: servers.in_text(index) for index, _ in servers.all} if servers.has_roles else {}
    others = {"messages": replay.rows, "page_size": replay.page_size, "begins": replay.begins, "servers": named}
    others["opens"] = replay.opens
    return {**asdict(replay.overview), **others}


def marks(run: Run, names: dict[str, int]) -> list[Mark]:
    """Event markers of the run's charts; ``names`` maps addresses to indices of servers."""
    telemetry = telemetry_of(run.configuration)
    words = EventWords(telemetry, Servers.of(run.configuration, telemetry.system), names)
    return marks_of(history.events(RunFiles(settings.RUNS / run.pk), Lake(settings.LAKE)), words)
