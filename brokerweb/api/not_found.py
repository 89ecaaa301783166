"""Unknown URLs return the standard error body."""

from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from brokerweb.kit.error_body import body


@csrf_exempt
def missing(request: HttpRequest) -> JsonResponse:
    """404 as JSON."""
    sentence = f"Unknown URL {request.path[:200]}. {_hint(request.path)}"
    return JsonResponse(body([("", "not_found", sentence)]), status=404)


def _hint(path: str) -> str:
    if "/ngsi" in path:
        return "Paths of NGSI begin with ngsi/v2/ or ngsi/ngsi-ld/v1/."
    return "See /api/docs/." if path.endswith("/") else "URLs end in a slash, with few exceptions; see /api/docs/."
