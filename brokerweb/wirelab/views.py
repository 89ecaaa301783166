"""Pages of the wire lab. ``lab`` is the system's, from the URLconf."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from brokerweb.accounts.asking import asked
from brokerweb.experiments.models import Run
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.streams import download
from brokerweb.kit.view_guards import changes, entered, person, posted
from brokerweb.wirelab import exchanges, pasted, recorded, sending, services, uploaded
from brokerweb.wirelab.lab import Lab, WrongFields
from overlay.core.errors import InvalidSetting
from overlay.core.node import SECOND
from telemetry.lake import pcapng

CAPTURES_OFFERED = 5
NO_FIELDS = (services.CODE, "csrfmiddlewaretoken")
"""Parts of a form that are no fields of the message."""


@entered
def index(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Decoding: of what the address holds, of what was pasted, or of a file."""
    if request.GET.get("run"):
        return redirect(f"{reverse(f'{lab.urls}-messages')}?{request.GET.urlencode()}")
    if request.method == "POST":
        return _pasted(request, lab)
    link = request.GET.get("d", "")
    sent = {"text": link, "form": ""}
    if not link:
        return _decode_page(request, lab, sent)
    try:
        data, _ = pasted.read(link, pasted.HEX)
    except InvalidSetting as error:
        return _decode_page(request, lab, sent, error=error)
    return _decode_page(request, lab, sent, found=services.decoded(lab, data))


def _pasted(request: HttpRequest, lab: Lab) -> HttpResponse:
    sent = {"text": request.POST.get("text", ""), "form": request.POST.get("form", "")}
    try:
        if uploaded.is_capture(request.FILES.get("file")):
            listed = uploaded.listed(lab, request.FILES["file"])
            return render(request, "wirelab/uploaded.html", {"lab": lab, "tab": "decode", "listed": listed})
        data, form = _datagram(request, lab)
    except InvalidSetting as error:
        return _decode_page(request, lab, sent, error=error)
    found = services.decoded(lab, data)
    if found.link:
        return redirect(f"{reverse(lab.urls)}{found.link}")
    return _decode_page(request, lab, sent, found=found, form=form)


def _datagram(request: HttpRequest, lab: Lab) -> tuple[bytes, str]:
    """The uploaded or pasted datagram. Raises ``InvalidSetting``."""
    upload = request.FILES.get("file")
    if upload is None:
        return pasted.read(request.POST.get("text", ""), request.POST.get("form", ""), lab.forms)
    return uploaded.datagram(upload), "file"


def _decode_page(
    request: HttpRequest,
    lab: Lab,
    sent: dict[str, str],
    *,
    found: services.Decoded | None = None,
    error: InvalidSetting | None = None,
    form: str = "",
) -> HttpResponse:
    context: dict[str, Any] = {"tab": "decode", "sent": sent, "error": error, "read_as": form}
    context |= {"examples": services.examples(lab), **shown(request, lab, found)}
    return render(request, "wirelab/decode.html", context, status=400 if error else 200)


def shown(request: HttpRequest, lab: Lab, found: services.Decoded | None) -> dict[str, Any]:
    """What a decoded datagram needs on any page; where it can be sent to is asked only for those who may."""
    places = sending.places(lab.system) if asked(request).may("change") else []
    context = {"lab": lab, "places": places, "wait_s": exchanges.WAIT // SECOND}
    if found is None:
        return context
    fields = [services.field_row(at, one, found.data) for at, one in enumerate(found.dissection.fields)]
    return {**context, "found": found, "fields": fields}


@posted
def decoded(request: HttpRequest, lab: Lab) -> HttpResponse:
    """The part of the page that follows what is typed."""
    try:
        data, form = _datagram(request, lab)
    except InvalidSetting as error:
        return render(request, "wirelab/decoded.html", {"lab": lab, "problem": error})
    return render(
        request, "wirelab/decoded.html", {"read_as": form, **shown(request, lab, services.decoded(lab, data))}
    )


@login_required
def compose(request: HttpRequest, lab: Lab) -> HttpResponse:
    """A form of one message, filled in as the address says."""
    form = _Form(lab, request.GET.dict())
    context = {"tab": "compose", "layouts": lab.messages, "layout": form.layout, "blanks": form.blanks}
    context |= {"errors": form.errors, "others": form.others, **shown(request, lab, form.found)}
    return render(request, "wirelab/compose.html", context, status=400 if form.errors else 200)


@posted
def composed(request: HttpRequest, lab: Lab) -> HttpResponse:
    """The bytes of the form as it stands, decoded."""
    form = _Form(lab, request.POST.dict())
    context = {"keys": [blank.key for blank in form.blanks], "errors": form.errors, "others": form.others}
    if form.errors:
        return render(request, "wirelab/decoded.html", {"unfit": True, **context, **shown(request, lab, None)})
    return render(request, "wirelab/decoded.html", {**context, **shown(request, lab, form.found)})


class _Form:
    """A message's form as sent, with what it composes or all that is wrong."""

    def __init__(self, lab: Lab, sent: dict[str, str]) -> None:
        given = {services.in_message(name): value for name, value in sent.items() if name not in NO_FIELDS}
        self.found: services.Decoded | None = None
        self.errors: dict[str, str] = {}
        code = lab.first_code
        try:
            code = recorded.whole("code", sent.get("code") or str(code), 0, 255)
            self.blanks = lab.blanks(code, given)
            self.found = services.decoded(lab, lab.compose(code, given, services.now_ms()))
        except WrongFields as error:
            self.errors = {services.in_form(key): sentence for key, sentence in error.errors.items()}
        except InvalidSetting as error:
            self.errors = {error.field: error.sentence}
            if error.field == "code":
                code, self.blanks = lab.first_code, lab.blanks(lab.first_code, {})
        self.blanks = [replace(blank, key=services.in_form(blank.key)) for blank in self.blanks]
        self.layout = next(one for one in lab.messages if one.code == code)

    @property
    def others(self) -> dict[str, str]:
        """Errors that belong to no field of the form."""
        keys = {blank.key for blank in self.blanks}
        return {name: sentence for name, sentence in self.errors.items() if name not in keys}


@changes
def send(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Sends a datagram to a live server; answers with a part of the page."""
    kind, _, id = request.POST.get("to", "").partition(":")
    try:
        data, _ = pasted.read(request.POST.get("datagram", ""), pasted.HEX)
        broker = recorded.whole("broker", request.POST.get("broker", "").strip(), 0, 999_999)
        heard = services.send(lab, kind, id, broker, data, person(request).pk)
    except InvalidSetting as error:
        return render(request, "wirelab/answers.html", {"lab": lab, "problem": error})
    except NotPossible as error:
        return render(request, "wirelab/answers.html", {"lab": lab, "refused": str(error)})
    return render(request, "wirelab/answers.html", {"lab": lab, **heard})


@login_required
def conversations(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Examples of what is said, each datagram to be opened or composed again."""
    told = [
        {"conversation": one, "lines": [(line, services.in_line(lab, line.data)) for line in one.lines]}
        for one in lab.conversations()
    ]
    return render(request, "wirelab/conversations.html", {"lab": lab, "tab": "conversations", "told": told})


@login_required
def messages(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Recorded messages: the runs that have some, or those of one run, or one of them taken apart."""
    if not request.GET.get("run"):
        return runs(request, lab)
    run = get_object_or_404(Run.objects.select_related("experiment"), pk=request.GET["run"], system=lab.system)
    context: dict[str, Any] = {"lab": lab, "tab": "recorded", "run": run, "layouts": lab.messages, "sent": request.GET}
    try:
        if request.GET.get("message"):
            return _message(request, lab, run)
        code = recorded.whole("code", request.GET["code"], 0, 255) if request.GET.get("code") else None
        number = recorded.whole("page", request.GET.get("page") or "1", 1, 10**6)
        context["page"] = recorded.page(lab, run, number, code)
    except InvalidSetting as error:
        return render(request, "wirelab/messages.html", {**context, "error": error}, status=400)
    except NotPossible as error:
        return render(request, "wirelab/messages.html", {**context, "refused": str(error)})
    return render(request, "wirelab/messages.html", context)


def _message(request: HttpRequest, lab: Lab, run: Run) -> HttpResponse:
    data = recorded.message(run, recorded.whole("message", request.GET["message"], 0, 10**9))
    if data is None:
        raise Http404
    sent = {"text": data.hex(), "form": ""}
    return _decode_page(request, lab, sent, found=services.decoded(lab, data))


def runs(request: HttpRequest, lab: Lab) -> HttpResponse:
    """The recorded runs."""
    listed = {"runs": recorded.recent(lab.system), "recorded_runs": recorded.runs(lab.system).count()}
    return render(request, "wirelab/runs.html", {"lab": lab, "tab": "recorded", **listed})


@login_required
def wireshark(request: HttpRequest, lab: Lab) -> HttpResponse:
    """How captures are opened, and the dissector."""
    done = [run for run in recorded.recent(lab.system) if recorded.is_there(run)][:CAPTURES_OFFERED]
    return render(
        request, "wirelab/wireshark.html", {"lab": lab, "tab": "wireshark", "runs": done, "known": len(lab.messages)}
    )


@login_required
def capture(request: HttpRequest, lab: Lab) -> HttpResponseBase:
    """The messages of a recorded run (``?run=``) as pcapng."""
    if not request.GET.get("run"):
        return HttpResponse("run: is missing, the id of a run", status=400, content_type="text/plain; charset=utf-8")
    chosen = {"pk": request.GET["run"], "system": lab.system}
    run = get_object_or_404(Run.objects.only("id", "engine", "system"), **chosen)
    try:
        pieces = recorded.capture(lab, run)
    except NotPossible as error:
        return HttpResponse(str(error), status=404, content_type="text/plain; charset=utf-8")
    return download(request, pieces, recorded.capture_name(run), pcapng.MEDIA_TYPE)
