"""Unknown URLs return the standard error body."""

from django.http import HttpRequest, JsonResponse
from django.urls import Resolver404, resolve
from django.views.decorators.csrf import csrf_exempt

from brokerweb.kit.error_body import body


@csrf_exempt
def missing(request: HttpRequest) -> JsonResponse:
    """404 as JSON. A URL of REST without its last slash is not redirected, which clients do not do for changes."""
    hint = f"Add a slash: {request.path[:200]}/" if _is_known(f"{request.path}/") else "See /api/docs/"
    return JsonResponse(body([("", "not_found", f"Unknown URL {request.path[:200]}. {hint}.")]), status=404)


def _is_known(path: str) -> bool:
    try:
        return resolve(path).func is not missing
    except Resolver404:
        return False
