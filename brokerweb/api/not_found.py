"""Unknown URLs return the standard error body."""

from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from brokerweb.kit.error_body import body


@csrf_exempt
def missing(request: HttpRequest) -> JsonResponse:
    """404 as JSON."""
    return JsonResponse(body([("", "not_found", f"Unknown URL {request.path[:200]}. See /api/docs/.")]), status=404)
