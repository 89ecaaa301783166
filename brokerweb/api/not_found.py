"""Unknown URLs return the standard error body."""

from django.http import HttpRequest, JsonResponse
from django.urls import Resolver404, resolve
from django.views.decorators.csrf import csrf_exempt

from brokerweb.kit.error_body import body


@csrf_exempt
def missing(request: HttpRequest) -> JsonResponse:
    """404 as JSON. A URL of REST without its last slash is not redirected, which clients do not do for changes."""
    sentence = f"Unknown URL {request.path[:200]}. {_hint(request.path[:200])}"
    return JsonResponse(body([("", "not_found", sentence)]), status=404)


def _hint(path: str) -> str:
    if "/ngsi" in path:
        return "Paths of NGSI begin with ngsi/v2/ or ngsi/ngsi-ld/v1/."
    return f"Add a slash: {path}/." if _is_known(f"{path}/") else "See /api/docs/."


def _is_known(path: str) -> bool:
    try:
        return resolve(path).func is not missing
    except Resolver404:
        return False
