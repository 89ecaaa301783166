"""The account page: who you are, your password, and your keys to the REST API."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import PasswordChangeView
from django.contrib.messages.views import SuccessMessageMixin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils import timezone
from django.views.decorators.cache import never_cache

from brokerweb.accounts import services
from brokerweb.accounts.models import Scope
from brokerweb.kit.doors import person, posted
from overlay.core.errors import InvalidSetting


@login_required
@never_cache
def account(request: HttpRequest, fresh: str = "", wrong: InvalidSetting | None = None) -> HttpResponse:
    """``fresh`` is a token that was just made: it is shown this once."""
    context = {
        "tokens": services.tokens_of(person(request)),
        "scopes": Scope.choices,
        "fresh": fresh,
        "wrong": wrong,
        "sent": request.POST if wrong else {"scope": Scope.READ},
        "now": timezone.now(),
    }
    return render(request, "accounts/account.html", context, status=400 if wrong else 200)


@posted
def make_token(request: HttpRequest) -> HttpResponse:
    """Answers with the page itself and not a redirect, so that the token is never stored to be shown later."""
    try:
        _, fresh = services.make_token(
            person(request),
            name=request.POST.get("name", ""),
            scope=request.POST.get("scope", ""),
        )
    except InvalidSetting as error:
        return account(request, wrong=error)
    return account(request, fresh=fresh)


@posted
def revoke_token(request: HttpRequest, token_id: str) -> HttpResponse:
    services.revoke(get_object_or_404(services.tokens_of(person(request)), id=token_id))
    messages.success(request, "Revoked the token; what still uses it is refused from now on.")
    return redirect("account")


class Password(SuccessMessageMixin, PasswordChangeView):
    """A new password, for whoever knows the present one."""

    template_name = "accounts/password.html"
    success_url = reverse_lazy("account")
    success_message = "The password is changed; your other sessions have ended and your tokens are revoked."
