"""An address that does not exist answers in the shape of every other error."""

from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from brokerweb.kit.error_body import body


@csrf_exempt
def missing(request: HttpRequest) -> JsonResponse:
    """404 as JSON."""
    return JsonResponse(
        body([("", "not_found", f"There is nothing at {request.path[:200]}; see /api/docs/.")]), status=404
    )
