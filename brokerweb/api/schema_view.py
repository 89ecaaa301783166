"""The OpenAPI document: YAML, or JSON for requests that accept it or say ``format=json``.

Made once per process, since it is the same for all and takes a second of processor time.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from django.http import HttpResponse, JsonResponse
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request

from brokerweb.kit.error_body import body
from overlay.core.errors import shown

YAML, JSON = "yaml", "json"
RENDERERS = {YAML: OpenApiYamlRenderer, JSON: OpenApiJsonRenderer}
FORMAT = "format"


class SchemaView(SpectacularAPIView):
    """It refuses unknown parameters itself, as it is not in the document."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        if unknown := [name for name in request.query_params if name != FORMAT]:
            return _refused(
                (name[:40], "unknown", f"Unknown parameter; known parameters: {FORMAT}.") for name in unknown
            )
        form = request.query_params.get(FORMAT) or (JSON if "json" in request.accepted_media_type else YAML)
        if form not in RENDERERS:
            return _refused([(FORMAT, "invalid", f"must be {YAML} or {JSON}, not {shown(form, 40)}")])
        kind = request.accepted_media_type if FORMAT not in request.query_params else RENDERERS[form].media_type
        headers = {"Content-Disposition": f'inline; filename="Waxwing.{form}"', "Vary": "Accept"}
        return HttpResponse(document(form), content_type=kind, headers=headers)


def _refused(errors: Iterable[tuple[str, str, str]]) -> JsonResponse:
    """As JSON, although the document may be YAML."""
    return JsonResponse(body(list(errors)[:10]), status=400)


@cache
def document(form: str) -> bytes:
    """The document in ``form``."""
    schema = SchemaGenerator().get_schema(request=None, public=True)
    text: str | bytes = RENDERERS[form]().render(schema, renderer_context={})
    return text if isinstance(text, bytes) else text.encode()
