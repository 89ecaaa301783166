"""Views of the page that creates an experiment, as a form or as a YAML document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from brokerweb.builder import filling, prefill
from brokerweb.builder.forms import DOCUMENT, FORM, ExperimentForm
from brokerweb.definitions import documents
from brokerweb.definitions.presets import PRESETS
from brokerweb.definitions.references import References
from brokerweb.experiments import estimates, services
from brokerweb.kit import picks
from brokerweb.kit.ids import new_id
from brokerweb.kit.picks import Picks
from brokerweb.kit.view_guards import changes, form_page, person
from brokerweb.topologies.models import Topology
from overlay.core.errors import InvalidSetting
from overlay.systems.registry import FIRST
from telemetry.formatting import counted

MOST_TOPOLOGIES = 100
"""Rows of the selection list in addition to the selected ones."""


@form_page
def new(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _started(request)
    form = filling.sent(request.POST)
    do = request.POST.get("do", "")
    if do in _TURNS:
        return _page(request, _TURNS[do](request, form))
    try:
        experiment, launched = services.create_once(
            form.body(),
            person(request),
            form.token,
            report_when_done=form.report_when_done,
            launches=do == "launch",
        )
    except InvalidSetting as error:
        form.blame(error)
        return _page(request, form, status=400)
    if launched is not None:
        messages.success(request, f"Launched {counted(launched.count, 'run')}.")
    return redirect("experiments:detail", experiment.id)


def _started(request: HttpRequest) -> HttpResponse:
    """The initial form: empty, or filled from a preset, an experiment, a run or a topology."""
    origin = prefill.find(request.GET)
    try:
        form = filling.shown(origin.definition, report_when_done=origin.report_when_done, token=new_id())
    except InvalidSetting as error:  # it has a setting that no longer exists; the document can show it
        form = filling.shown({}, report_when_done=origin.report_when_done, token=new_id())
        form.mode, form.document = DOCUMENT, documents.text(origin.definition)
        form.blame(error)
    form.errors = [*origin.problems, *form.errors]
    if prefill.DOCUMENT in request.GET:
        form = _as_document(request, form)
    return _page(request, form, origin=origin)


def _as_document(request: HttpRequest, form: ExperimentForm) -> ExperimentForm:
    """Switch from the form to the document; with unreadable input, the form stays."""
    if form.mode == DOCUMENT:
        return form
    try:
        form.document = documents.text(form.draft())
        form.mode = DOCUMENT
    except InvalidSetting as error:
        form.blame(error)
    return form


def _as_form(request: HttpRequest, form: ExperimentForm) -> ExperimentForm:
    """Switch from the document to the form; the document stays, with the reason, if the form cannot show it."""
    if form.mode == FORM:
        return form
    try:
        body = documents.read(form.document)
        kept = References(body.get("engine")).kept(body)
        return filling.shown({"name": "", **kept}, report_when_done=form.report_when_done, token=form.token or new_id())
    except InvalidSetting as error:
        form.blame(error)
        return form


def _read_file(request: HttpRequest, form: ExperimentForm) -> ExperimentForm:
    """Replace the document with an uploaded file; an unreadable file changes nothing."""
    file = request.FILES.get("file")
    try:
        form.document, form.mode = _text_of(file), DOCUMENT
        documents.read(form.document)
    except InvalidSetting as error:
        form.blame(error)
    return form


def _text_of(file: Any) -> str:
    if not isinstance(file, UploadedFile):
        raise InvalidSetting("document", "no file was selected")
    if (file.size or 0) > documents.MOST_BYTES:
        raise InvalidSetting(
            "document", f"{file.name!r:.60} has {file.size:,} bytes; the limit is {documents.MOST_BYTES:,}"
        )
    try:
        return file.read().decode()
    except UnicodeDecodeError:
        raise InvalidSetting("document", f"{file.name!r:.60} is not UTF-8 text") from None


def _as_it_is(request: HttpRequest, form: ExperimentForm) -> ExperimentForm:
    return form


_TURNS = {DOCUMENT: _as_document, FORM: _as_form, "upload": _read_file, "look": _as_it_is}
"""Actions of buttons that neither save nor launch."""


def _page(
    request: HttpRequest, form: ExperimentForm, status: int = 200, origin: prefill.Origin | None = None
) -> HttpResponse:
    context = {
        "form": form,
        "origin": origin,
        "presets": [one for one in PRESETS.values() if one.definition.get("system", FIRST) == form.system_name],
        "topologies": _topologies(request, form),
        "open_workload": any(one.wrong for one in form.more_workload),
        **_estimate(form),
    }
    return render(request, "experiments/form.html", context, status=status)


def _topologies(request: HttpRequest, form: ExperimentForm) -> Picks:
    """Topologies to select from, by name."""
    rows = Topology.objects.only("id", "name", "kind", "brokers", "measures")
    return picks.by_name(rows, form.chosen_ids, request.POST.get(picks.FIND, ""), MOST_TOPOLOGIES)


@changes
def topologies(request: HttpRequest) -> HttpResponse:
    """The list of topologies, filtered by the search field."""
    form = filling.sent(request.POST)
    return render(request, "experiments/pick_topologies.html", {"form": form, "topologies": _topologies(request, form)})


@changes
def estimate(request: HttpRequest) -> HttpResponse:
    """Run count and duration of the form, and its unused settings."""
    form = filling.sent(request.POST)
    return render(request, "experiments/launch_bar.html", {"form": form, "is_part": True, **_estimate(form)})


def _estimate(form: ExperimentForm) -> Mapping[str, Any]:
    try:
        body = form.body()
        return {"estimate": estimates.estimate({**body, "name": body.get("name") or "unnamed"})}
    except InvalidSetting as error:
        is_hint = form.mode == FORM and error.field == "topology" and not form.topologies
        return {"problem": error, "is_hint": is_hint}
