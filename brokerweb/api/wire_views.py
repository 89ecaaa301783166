"""The wire lab of every system that declares one: decode, compose and send datagrams."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ErrorDetail, NotFound, Throttled, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from brokerweb.accounts.rights import Operation
from brokerweb.api.shapes import wire as shapes
from brokerweb.wirelab import pasted, sending, services
from brokerweb.wirelab.lab import Lab, WrongFields
from brokerweb.wirelab.labs import lab_of, with_labs
from overlay.core.addresses import format_address
from overlay.core.errors import InvalidSetting

FIELD_NAMES = tuple(shapes.WireFieldSerializer().get_fields())
MOST_ERRORS = 100
"""Wrong fields of a message that are named."""


def _lab(system: str) -> Lab:
    lab = lab_of(system)
    if lab is None:
        raise NotFound(f"No wire lab of {system!r:.40}; systems with one: {', '.join(with_labs())}.")
    return lab


def _body(shape: type[Serializer], request: Request) -> dict[str, Any]:
    body = shape(data=request.data)
    body.is_valid(raise_exception=True)
    return body.validated_data


def told(found: services.Decoded, read_as: str = "") -> dict[str, Any]:
    """A decoded datagram as JSON."""
    fields = [services.field_row(at, one, found.data) for at, one in enumerate(found.dissection.fields)]
    verdict = found.verdict
    return {
        "bytes": len(found.data),
        "hex": found.hex,
        "text": found.text,
        "summary": found.visible,
        "inside": found.dissection.inside,
        "read_as": read_as,
        "code": found.layout.code if found.layout else None,
        "name": found.name,
        "fields": [{name: row[name] for name in FIELD_NAMES} for row in fields],
        "missing": list(found.dissection.missing),
        "problems": list(found.dissection.problems),
        "verdict": {
            "judgement": verdict.judgement.value,
            "sentence": verdict.sentence,
            "status": verdict.status,
            "answers": found.answers,
            "needs": verdict.needs,
        },
    }


class DecodeView(APIView):
    operations = {"post": Operation.READ}  # a datagram may be too long for a URL

    @extend_schema(operation_id="systems_wire_decode", request=shapes.DecodeBody, responses=shapes.DecodedSerializer)
    def post(self, request: Request, system: str) -> Response:
        """Decode a datagram: fields with offsets, and a server's verdict."""
        lab = _lab(system)
        body = _body(shapes.DecodeBody, request)
        data, form = pasted.read(body["text"], body["form"], lab.forms)
        return Response(told(services.decoded(lab, data), form))


class ComposeView(APIView):
    operations = {"post": Operation.READ}

    @extend_schema(operation_id="systems_wire_compose", request=shapes.ComposeBody, responses=shapes.DecodedSerializer)
    def post(self, request: Request, system: str) -> Response:
        """Compose a datagram from fields and decode it. 400 names all fields that cannot be encoded."""
        lab = _lab(system)
        body = _body(shapes.ComposeBody, request)
        data = _composed(lab, body["code"], body.get("fields", {}))
        return Response(told(services.decoded(lab, data)))


def _composed(lab: Lab, code: int, given: dict[str, str]) -> bytes:
    """Raises ``InvalidSetting`` for the code, ``ValidationError`` for the fields."""
    names = {blank.key for blank in lab.blanks(code, {})} | given.keys()
    try:
        return lab.compose(code, given, services.now_ms())
    except InvalidSetting as error:
        wrong = error.errors if isinstance(error, WrongFields) else {error.field: error.sentence}
        named = [(f"fields.{name}" if name in names else "fields", said) for name, said in wrong.items()]
        found = {name: [ErrorDetail(said, code="invalid")] for name, said in named[:MOST_ERRORS]}
        raise ValidationError(found) from None


class SendView(APIView):
    @extend_schema(operation_id="systems_wire_send", request=shapes.SendBody, responses=shapes.SentSerializer)
    def post(self, request: Request, system: str) -> Response:
        """Send a datagram once to a server of this installation; returns the answers of 2 s.

        Some messages change the network's state. At most 20 datagrams in 10 s per account; 429 above that.
        """
        lab = _lab(system)
        body = _body(shapes.SendBody, request)
        chosen = [kind for kind in (sending.NETWORK, sending.RUN) if body.get(kind)]
        if len(chosen) != 1:
            raise InvalidSetting("network", "give either a network or a run")
        (kind,) = chosen
        try:
            with _named(text="hex", to=kind):
                data, _ = pasted.read(body["hex"], pasted.HEX)
                heard = services.send(lab, kind, body[kind], body["broker"], data, int(request.user.pk or 0))
        except sending.TooFast as error:
            raise Throttled(sending.WINDOW_S, str(error)) from None
        answers = [{**told(one["decoded"]), "after_us": one["after_us"]} for one in heard["answers"]]
        sent = heard["sent"]
        where = {"broker": sent.broker, "address": format_address(sent.address)}
        return Response({**where, "sentence": heard["sentence"], "answers": answers})


@contextmanager
def _named(**fields: str) -> Iterator[None]:
    """Errors of the pages' fields are errors of those of the body."""
    try:
        yield
    except InvalidSetting as error:
        raise InvalidSetting(fields.get(error.field, error.field), error.sentence) from None
