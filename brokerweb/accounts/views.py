"""The account page: user, password and REST API tokens."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.contrib.messages.views import SuccessMessageMixin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils import timezone
from django.views.decorators.cache import never_cache

from brokerweb.accounts import roles, services
from brokerweb.accounts.asking import asked, shown_networks
from brokerweb.accounts.models import Scope, all_networks
from brokerweb.accounts.rights import Role
from brokerweb.kit.view_guards import needs, person, posted
from overlay.core.errors import InvalidSetting

ROLE_WORDS = {
    Role.GUEST: "you see only the networks that you were given.",
    Role.VIEWER: "you see everything and change nothing.",
    Role.OPERATOR: "you see, change and launch everything.",
    Role.ADMINISTRATOR: "you see and change everything, and manage accounts.",
}


@needs("own")
@login_required
@never_cache
def account(request: HttpRequest, fresh: str = "", wrong: InvalidSetting | None = None) -> HttpResponse:
    """``fresh`` is a new token, shown only in this response."""
    user = person(request)
    role = roles.stored_role(user)
    tokens = list(services.tokens_of(user))
    seen = shown_networks(all_networks().order_by("name"), asked(request).access)
    names = dict(seen.values_list("pk", "name")[: services.MOST_NETWORKS])
    context = {
        "role": role.word,
        "role_words": ROLE_WORDS[role],
        "levels": user.network_rights.select_related("network").order_by("network__name"),
        "rows": [(token, [names.get(pk, "deleted") for pk in token.networks or ()]) for token in tokens],
        "networks": names,
        "chosen": request.POST.getlist("networks") if wrong else [],
        "days": services.DAYS,
        "most_days": services.MOST_DAYS,
        "scopes": Scope.choices,
        "fresh": fresh,
        "wrong": wrong,
        "sent": request.POST if wrong else {"scope": Scope.READ},
        "now": timezone.now(),
    }
    return render(request, "accounts/account.html", context, status=400 if wrong else 200)


@needs("own")
@posted
def make_token(request: HttpRequest) -> HttpResponse:
    """Renders the page instead of redirecting, so that the token is not stored for the next request."""
    try:
        _, fresh = services.make_token(
            person(request),
            name=request.POST.get("name", ""),
            scope=request.POST.get("scope", ""),
            networks=request.POST.getlist("networks") or None,
            days=_days(request.POST.get("days", "")),
        )
    except InvalidSetting as error:
        return account(request, wrong=error)
    return account(request, fresh=fresh)


def _days(text: str) -> int:
    """Raises ``InvalidSetting``."""
    text = text.strip() or str(services.DAYS)
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise InvalidSetting("days", f"must be a whole number from 1 to {services.MOST_DAYS}, not {text[:40]!r}")
    return int(text)


@needs("own")
@posted
def revoke_token(request: HttpRequest, token_id: str) -> HttpResponse:
    services.revoke(get_object_or_404(services.tokens_of(person(request)), id=token_id))
    messages.success(request, "Token revoked. Programs that use it no longer have access.")
    return redirect("account")


class LogIn(LoginView):
    """With a link to the OpenID provider, if there is one."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), "has_oidc": bool(settings.OIDC_ISSUER)}


class Password(SuccessMessageMixin, PasswordChangeView):
    """Changes the password; asks for the current one."""

    template_name = "accounts/password.html"
    success_url = reverse_lazy("account")
    success_message = "Password changed. Your other sessions have ended and your tokens are revoked."
