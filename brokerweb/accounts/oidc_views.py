"""Log-in by an OpenID provider; 404 unless settings name one."""

from __future__ import annotations

import logging

from django.conf import settings
from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache

from brokerweb.accounts import oidc
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.view_guards import needs

log = logging.getLogger(__name__)
BACKEND = "django.contrib.auth.backends.ModelBackend"
NEXT = "oidc_next"
NO_ANSWER = "The provider did not confirm the log-in. Try again."


def _check_on() -> None:
    if not settings.OIDC_ISSUER:
        raise Http404("No provider is configured.")


@needs(None)
@never_cache
def begin(request: HttpRequest) -> HttpResponse:
    """To the provider."""
    _check_on()
    wanted = request.GET.get("next", "")
    is_own = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    request.session[NEXT] = wanted if is_own else ""
    try:
        answer: HttpResponse = oidc.provider().authorize_redirect(
            request, request.build_absolute_uri(reverse("oidc-callback"))
        )
    except oidc.errors():
        log.exception("the OpenID provider %s", settings.OIDC_ISSUER)
        return _refused(request, "The provider does not answer. Try again later.", 502)
    return answer


@needs(None)
@never_cache
def callback(request: HttpRequest) -> HttpResponse:
    """Back from the provider."""
    _check_on()
    try:
        token = oidc.provider().authorize_access_token(request)
        claims = token["userinfo"]
    except oidc.errors() as error:
        log.warning("log-in by the OpenID provider failed: %s: %s", type(error).__name__, error)
        return _refused(request, NO_ANSWER, 403)
    try:
        user = oidc.account(claims)
    except (oidc.Refused, NotPossible) as error:
        return _refused(request, str(error), 403)
    wanted = request.session.pop(NEXT, "")
    login(request, user, backend=BACKEND)
    return redirect(wanted or settings.LOGIN_REDIRECT_URL)


def _refused(request: HttpRequest, sentence: str, status: int) -> HttpResponse:
    return render(request, "accounts/oidc.html", {"sentence": sentence}, status=status)
