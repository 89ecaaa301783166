"""Pages of topologies."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from brokerweb.kit.errors import NotPossible
from brokerweb.kit.view_guards import changes, form_page, page_of, person, sought
from brokerweb.topologies import forms, pictures, services, uses, walk_views
from brokerweb.topologies.models import Topology
from overlay import topologies as overlay_topologies
from overlay.core.errors import InvalidSetting
from overlay.topologies import parts

LINKS_SHOWN = 1_000


@login_required
def index(request: HttpRequest) -> HttpResponse:
    rows = Topology.objects.all()
    if query := sought(request):
        rows = rows.filter(name__icontains=query)
    if kind := request.GET.get("kind", ""):
        rows = rows.filter(kind=kind)
    page, naming = (
        page_of(request, rows.annotate(deployed=Count("networks")).order_by("name")),
        uses.experiments_by_topology(),
    )
    for topology in page:
        topology.experiments = naming[topology.pk]
    return render(request, "topologies/list.html", {"page": page, "kinds": services.kinds()})


@form_page
def new(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        kind = request.GET.get("kind", "ring")
        kind = kind if kind in services.kinds() else "ring"
        form = forms.blank(kind, request.GET.get("preset", ""), typed=request.GET)
        return _form(request, form)
    try:
        form = forms.sent_form(request.POST)
    except InvalidSetting as error:
        form = forms.blank("ring")
        form.blame(error)
        return _form(request, form, status=400)
    form.check_name()
    try:
        topology = services.create(name=form.sent["name"], **form.described(), owner=person(request))
    except InvalidSetting as error:
        form.blame(error)
        return _form(request, form, status=400)
    return redirect("topologies:edit" if request.POST.get("do") == "edit" else "topologies:detail", topology.id)


def _form(request: HttpRequest, form: forms.TopologyForm, status: int = 200) -> HttpResponse:
    context = {"form": form, "kinds": services.kinds(), "max_brokers": settings.MAX_BROKERS, **_preview(form)}
    return render(request, "topologies/form.html", context, status=status)


@changes
def preview(request: HttpRequest) -> HttpResponse:
    """Preview: graph and measures without saving."""
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
    drawn = {"graph": pictures.of_graph(graph), "measures": overlay_topologies.measures(graph)}
    return {**drawn, "apart": parts.sentence(graph)}


@login_required
def apart(request: HttpRequest) -> HttpResponse:
    """Warning about the selected topology; empty if it is connected."""
    chosen = Topology.objects.filter(pk=request.GET.get("topology", "")).first()
    sentence = parts.sentence(services.to_graph(chosen)) if chosen else ""
    return render(request, "topologies/apart.html", {"apart": sentence})


@form_page
def import_file(request: HttpRequest) -> HttpResponse:
    limit = {"limit": settings.MAX_UPLOAD_BYTES}
    if request.method != "POST":
        return render(request, "topologies/import.html", {"sent": {}, **limit})
    try:
        topology = services.import_text(name=request.POST.get("name", ""), owner=person(request), **_document(request))
    except InvalidSetting as error:
        context = {"sent": request.POST, "error": error, "wrong_field": _wrong_field(request, error), **limit}
        return render(request, "topologies/import.html", context, status=400)
    links, found = topology.measures["links"], topology.measures["components"]
    in_parts = f", {found} components" if found > 1 else ""
    messages.success(request, f"Imported {topology.brokers} brokers and {links} links{in_parts}.")
    return redirect("topologies:detail", topology.id)


def _wrong_field(request: HttpRequest, error: InvalidSetting) -> str:
    """The form field of an error: the name, or the source of the document."""
    if error.field == "name":
        return "name"
    return "file" if request.FILES.get("file") or not request.POST.get("text") else "text"


def _document(request: HttpRequest) -> dict[str, str]:
    """Text and format of the file or the pasted text. Raises ``InvalidSetting``."""
    upload = request.FILES.get("file")
    if upload is None and not request.POST.get("text", "").strip():
        raise InvalidSetting("file", "select a file, or paste its text")
    size = settings.MAX_UPLOAD_BYTES
    if upload is not None and (upload.size or 0) > size:
        found = (upload.size or 0) / 1_000_000
        raise InvalidSetting("file", f"has {found:.1f} MB; the limit is {size // 1_000_000} MB")
    try:
        text = upload.read().decode("utf-8-sig") if upload is not None else request.POST["text"]
    except UnicodeDecodeError:
        raise InvalidSetting("file", "is not text in UTF-8") from None
    return {"text": text, "form": _form_of(text)}


def _form_of(text: str) -> str:
    """Detects the format of a document from its beginning."""
    start = text.lstrip()[:1]
    return services.JSON if start in ("{", "[") else services.GRAPHML if start == "<" else services.CSV


@login_required
def detail(request: HttpRequest, topology_id: str) -> HttpResponse:
    topology = get_object_or_404(Topology.objects.select_related("owner"), pk=topology_id)
    graph = services.to_graph(topology)
    context = {
        "topology": topology,
        # Invalid rows have no measures: see services.remeasure.
        "problems": [] if topology.measures else services.problems(topology, must_connect=False),
        "apart": parts.sentence(graph),
        "graph": pictures.of_graph(graph),
        "names": list(graph.names or range(graph.brokers)),
        "links": (links := list(topology.links.all()[:LINKS_SHOWN])),
        "do_more": any(link.more for link in links),
        "uses": uses.of(topology),
        "forms": list(services.READERS),
        **walk_views.choices(topology),
    }
    return render(request, "topologies/detail.html", context)


@login_required
def export(request: HttpRequest, topology_id: str, form: str) -> HttpResponse:
    """The topology as a file that can be imported again."""
    topology = get_object_or_404(Topology, pk=topology_id)
    if form not in services.READERS:
        raise Http404
    text, kind = services.export_text(services.to_graph(topology), form)
    name = services.file_name(topology, form)
    return HttpResponse(text, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


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
