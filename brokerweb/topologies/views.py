"""Pages of topologies: parse, call one service, show."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from brokerweb.doors import changes, form_page, page_of, person
from brokerweb.errors import NotPossible
from brokerweb.topologies import forms, pictures, services
from brokerweb.topologies.models import Topology
from overlay import topologies as overlay_topologies
from overlay.errors import InvalidSetting

LINKS_SHOWN = 1_000


@login_required
def index(request: HttpRequest) -> HttpResponse:
    rows = Topology.objects.all()
    if query := request.GET.get("q", "").strip():
        rows = rows.filter(name__icontains=query)
    if kind := request.GET.get("kind", ""):
        rows = rows.filter(kind=kind)
    return render(request, "topologies/list.html", {"page": page_of(request, rows), "kinds": services.kinds()})


@form_page
def new(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        kind = request.GET.get("kind", "ring")
        form = forms.blank(kind if kind in services.kinds() else "ring", request.GET.get("preset", ""))
        return _form(request, form)
    try:
        form = forms.sent_form(request.POST)
    except InvalidSetting as error:
        form = forms.blank("ring")
        form.blame(error)
        return _form(request, form, status=400)
    try:
        topology = services.create(name=form.sent["name"], **form.described(), owner=person(request))
    except InvalidSetting as error:
        form.blame(error)
        return _form(request, form, status=400)
    return redirect("topologies:detail", topology.id)


def _form(request: HttpRequest, form: forms.TopologyForm, status: int = 200) -> HttpResponse:
    context = {"form": form, "kinds": services.kinds(), "max_brokers": settings.MAX_BROKERS, **_preview(form)}
    return render(request, "topologies/form.html", context, status=status)


@changes
def preview(request: HttpRequest) -> HttpResponse:
    """What the form describes, drawn and measured, without saving it."""
    try:
        shown = _preview(forms.sent_form(request.POST))
    except InvalidSetting as error:
        shown = {"problem": error}
    return render(request, "topologies/preview.html", shown)


def _preview(form: forms.TopologyForm) -> dict[str, Any]:
    try:
        graph = services.build_graph(**form.described())
    except InvalidSetting as error:
        return {"problem": error}
    return {"graph": pictures.of_graph(graph), "measures": overlay_topologies.measures(graph)}


@form_page
def import_file(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return render(request, "topologies/import.html", {"sent": {}})
    try:
        topology = services.import_text(
            name=request.POST.get("name", ""),
            owner=person(request),
            **_uploaded(request),
        )
    except InvalidSetting as error:
        return render(request, "topologies/import.html", {"sent": request.POST, "error": error}, status=400)
    messages.success(request, f"Imported {topology.brokers} brokers and {topology.measures['links']} links.")
    return redirect("topologies:detail", topology.id)


def _uploaded(request: HttpRequest) -> dict[str, str]:
    """Text and form of the uploaded file. Raises ``InvalidSetting``."""
    upload = request.FILES.get("file")
    if upload is None:
        raise InvalidSetting("file", "no file was chosen")
    if (upload.size or 0) > settings.MAX_UPLOAD_BYTES:
        raise InvalidSetting("file", f"is larger than {settings.MAX_UPLOAD_BYTES // 1_000_000} MB")
    try:
        text = upload.read().decode()
    except UnicodeDecodeError:
        raise InvalidSetting("file", "is not text in UTF-8") from None
    return {"text": text, "form": services.JSON if text.lstrip().startswith(("{", "[")) else services.GRAPHML}


@login_required
def detail(request: HttpRequest, topology_id: str) -> HttpResponse:
    topology = get_object_or_404(Topology, pk=topology_id)
    context = {
        "topology": topology,
        "graph": pictures.of_graph(services.to_graph(topology)),
        "links": list(topology.links.all()[:LINKS_SHOWN]),
        "used_by": topology.networks.count(),
    }
    return render(request, "topologies/detail.html", context)


@login_required
def export(request: HttpRequest, topology_id: str, form: str) -> HttpResponse:
    """The topology as a file, in one of the forms that can be imported again."""
    topology = get_object_or_404(Topology, pk=topology_id)
    graph = services.to_graph(topology)
    if form == services.GRAPHML:
        text, kind = overlay_topologies.to_graphml(graph), "application/graphml+xml"
    elif form == services.JSON:
        text, kind = json.dumps(overlay_topologies.to_json(graph), indent=1), "application/json"
    else:
        raise Http404
    name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in topology.name)
    return HttpResponse(
        text, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}.{form}"'}
    )


@changes
def delete(request: HttpRequest, topology_id: str) -> HttpResponse:
    topology = get_object_or_404(Topology, pk=topology_id)
    try:
        services.delete(topology)
    except NotPossible as error:
        messages.error(request, str(error))
        return redirect("topologies:detail", topology_id)
    messages.success(request, f"Deleted the topology {topology.name}.")
    return redirect("topologies:list")
