"""Pages of the wire lab."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from brokerweb.experiments.models import Run
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.streams import download
from brokerweb.kit.view_guards import changes, entered, person, posted
from brokerweb.systems.context_broker.wirelab import composing, pasted, recorded, sending, services
from overlay.core.errors import InvalidSetting
from overlay.systems.context_broker.wire.table import LAYOUTS
from telemetry.lake import pcapng

WIRE = "context_broker/wire"
"""Folder of the templates."""
FIRST_CODE = 3
"""What composing begins with."""
CAPTURES_OFFERED = 5


@entered
def index(request: HttpRequest) -> HttpResponse:
    """Decoding: of what the address holds, of what was pasted, or of a file."""
    if request.GET.get("run"):
        return redirect(f"{reverse('wire-messages')}?{request.GET.urlencode()}")
    if request.method == "POST":
        return _pasted(request)
    link = request.GET.get("d", "")
    sent = {"text": link, "form": ""}
    if not link:
        return _decode_page(request, sent)
    try:
        data, _ = pasted.read(link, pasted.HEX)
    except InvalidSetting as error:
        return _decode_page(request, sent, error=error)
    return _decode_page(request, sent, found=services.decoded(data))


def _pasted(request: HttpRequest) -> HttpResponse:
    sent = {"text": request.POST.get("text", ""), "form": request.POST.get("form", "")}
    try:
        data, form = _datagram(request)
    except InvalidSetting as error:
        return _decode_page(request, sent, error=error)
    found = services.decoded(data)
    if found.link:
        return redirect(f"{reverse('wire')}{found.link}")
    return _decode_page(request, sent, found=found, form=form)


def _datagram(request: HttpRequest) -> tuple[bytes, str]:
    """The uploaded or pasted datagram. Raises ``InvalidSetting``."""
    upload = request.FILES.get("file")
    if upload is None:
        return pasted.read(request.POST.get("text", ""), request.POST.get("form", ""))
    if (upload.size or 0) > pasted.MOST_BYTES:
        raise InvalidSetting("file", f"has {upload.size:,} bytes; a datagram holds at most 65,507")
    data = upload.read()
    if not data:
        raise InvalidSetting("file", "is empty")
    return data, "file"


def _decode_page(
    request: HttpRequest,
    sent: dict[str, str],
    *,
    found: services.Decoded | None = None,
    error: InvalidSetting | None = None,
    form: str = "",
) -> HttpResponse:
    context: dict[str, Any] = {"tab": "decode", "sent": sent, "forms": pasted.FORMS, "error": error, "read_as": form}
    context |= {"examples": services.examples(), **_shown(request, found)}
    return render(request, f"{WIRE}/decode.html", context, status=400 if error else 200)


def _shown(request: HttpRequest, found: services.Decoded | None) -> dict[str, Any]:
    """What a decoded datagram needs on any page; where it can be sent to is asked only for those who may."""
    places = sending.places() if getattr(request.user, "is_staff", False) else []
    context = {"places": places, "wait_s": sending.WAIT_NS // 10**9}
    if found is None:
        return context
    fields = [services.field_row(at, one, found.data) for at, one in enumerate(found.dissection.fields)]
    return {**context, "found": found, "fields": fields}


@posted
def decoded(request: HttpRequest) -> HttpResponse:
    """The part of the page that follows what is typed."""
    try:
        data, form = _datagram(request)
    except InvalidSetting as error:
        return render(request, f"{WIRE}/decoded.html", {"problem": error})
    return render(request, f"{WIRE}/decoded.html", {"read_as": form, **_shown(request, services.decoded(data))})


@login_required
def compose(request: HttpRequest) -> HttpResponse:
    """A form of one message, filled in as the address says."""
    given = {name: str(value) for name, value in request.GET.items() if name != "code"}
    try:
        code = recorded.whole("code", request.GET.get("code") or str(FIRST_CODE), 0, 255)
        layout = composing.layout_of(code)
        found = services.decoded(composing.compose(code, given, services.now_ms()))
    except InvalidSetting as error:
        layout = LAYOUTS[FIRST_CODE]
        context = {
            "tab": "compose",
            "error": error,
            "layouts": LAYOUTS.values(),
            "layout": layout,
            **_shown(request, None),
        }
        return render(request, f"{WIRE}/compose.html", {**context, "blanks": composing.blanks(layout, {})}, status=400)
    context = {"tab": "compose", "layouts": LAYOUTS.values(), "layout": layout, **_shown(request, found)}
    return render(request, f"{WIRE}/compose.html", {**context, "blanks": composing.blanks(layout, given)})


@posted
def composed(request: HttpRequest) -> HttpResponse:
    """The bytes of the form as it stands, decoded."""
    given = {name: str(value) for name, value in request.POST.items() if name not in ("code", "csrfmiddlewaretoken")}
    try:
        code = recorded.whole("code", request.POST.get("code", ""), 0, 255)
        data = composing.compose(code, given, services.now_ms())
    except InvalidSetting as error:
        return render(request, f"{WIRE}/decoded.html", {"problem": error})
    return render(request, f"{WIRE}/decoded.html", _shown(request, services.decoded(data)))


@changes
def send(request: HttpRequest) -> HttpResponse:
    """Sends a datagram to a live broker; answers with a part of the page."""
    kind, _, id = request.POST.get("to", "").partition(":")
    try:
        data, _ = pasted.read(request.POST.get("datagram", ""), pasted.HEX)
        broker = recorded.whole("broker", request.POST.get("broker", "").strip(), 0, 999_999)
        heard = services.send(kind, id, broker, data, person(request).pk)
    except InvalidSetting as error:
        return render(request, f"{WIRE}/answers.html", {"problem": error})
    except NotPossible as error:
        return render(request, f"{WIRE}/answers.html", {"refused": str(error)})
    return render(request, f"{WIRE}/answers.html", heard)


@login_required
def messages(request: HttpRequest) -> HttpResponse:
    """Recorded messages: the runs that have some, or those of one run, or one of them taken apart."""
    run_id = request.GET.get("run", "")
    if not run_id:
        listed = {"runs": recorded.recent(), "recorded_runs": recorded.runs().count()}
        return render(request, f"{WIRE}/runs.html", {"tab": "recorded", **listed})
    run = get_object_or_404(Run.objects.select_related("experiment"), pk=run_id)
    context: dict[str, Any] = {"tab": "recorded", "run": run, "layouts": LAYOUTS.values(), "sent": request.GET}
    if not recorded.is_there(run):
        return render(request, f"{WIRE}/messages.html", context)
    try:
        choice = recorded.choice_of(request.GET.dict())
        number = recorded.whole("page", request.GET.get("page") or "1", 1, 10**6)
        if request.GET.get("message"):
            return _message(request, run, context)
    except InvalidSetting as error:
        return render(request, f"{WIRE}/messages.html", {**context, "error": error}, status=400)
    return render(request, f"{WIRE}/messages.html", {**context, "page": recorded.page(run, choice, number)})


def _message(request: HttpRequest, run: Run, context: dict[str, Any]) -> HttpResponse:
    number = recorded.whole("message", request.GET["message"], 0, 10**9)
    try:
        found = recorded.message(run, number)
    except NotPossible as error:
        return render(
            request,
            f"{WIRE}/message.html",
            {**context, "number": number, "refused": str(error)},
            status=409,
        )
    if found is None:
        raise Http404
    row, data = found
    return render(
        request,
        f"{WIRE}/message.html",
        {**context, "number": number, "row": row, **_shown(request, services.decoded(data))},
    )


@login_required
def wireshark(request: HttpRequest) -> HttpResponse:
    """How captures are opened, and the dissector."""
    runs = [run for run in recorded.recent() if recorded.is_there(run)][:CAPTURES_OFFERED]
    return render(request, f"{WIRE}/wireshark.html", {"tab": "wireshark", "runs": runs, "known": len(LAYOUTS)})


@login_required
def capture(request: HttpRequest, run_id: str) -> HttpResponseBase:
    """The messages of a recorded run as pcapng, chosen as in the table."""
    run = get_object_or_404(Run.objects.only("id", "engine"), pk=run_id)
    try:
        pieces = recorded.capture(run, recorded.choice_of(request.GET.dict()))
    except InvalidSetting as error:
        return HttpResponse(f"{error.field}: {error.sentence}", status=400, content_type="text/plain; charset=utf-8")
    except NotPossible as error:
        return HttpResponse(str(error), status=404, content_type="text/plain; charset=utf-8")
    return download(request, pieces, recorded.capture_name(run), pcapng.MEDIA_TYPE)
