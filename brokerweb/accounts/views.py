"""The account page: who you are, and your keys to the REST API."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from brokerweb.accounts import services
from brokerweb.accounts.models import Scope, Token
from brokerweb.doors import person
from overlay.errors import InvalidSetting


@login_required
@never_cache
def account(request: HttpRequest, fresh: str = "", wrong: str = "") -> HttpResponse:
    """``fresh`` is a token that was just made: it is shown this once."""
    tokens = Token.objects.filter(user=request.user)
    context = {"tokens": tokens, "scopes": Scope.choices, "fresh": fresh, "wrong": wrong, "now": timezone.now()}
    return render(request, "accounts/account.html", context, status=400 if wrong else 200)


@login_required
@require_POST
def make_token(request: HttpRequest) -> HttpResponse:
    """Answers with the page itself and not a redirect, so that the token is never stored to be shown later."""
    try:
        _, fresh = services.make_token(
            person(request),
            name=request.POST.get("name", ""),
            scope=request.POST.get("scope", ""),
        )
    except InvalidSetting as error:
        return account(request, wrong=f"{error.field}: {error.sentence}")
    return account(request, fresh=fresh)


@login_required
@require_POST
def revoke_token(request: HttpRequest, token_id: str) -> HttpResponse:
    token = get_object_or_404(Token, id=token_id, user=request.user)
    token.delete()
    messages.success(request, "Revoked the token; what still uses it is refused from now on.")
    return redirect("account")
