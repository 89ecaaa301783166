"""Pages on which administrators manage accounts: role, rights on single networks, whether they may log in, tokens."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Max, Q
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from brokerweb.accounts import roles, services
from brokerweb.accounts.models import Guest, all_networks
from brokerweb.accounts.rights import Level
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.view_guards import entered, needs, page_of, posted, sought
from overlay.core.errors import InvalidSetting
from telemetry.formatting import words

NONE = ""
"""Instead of a level: no right."""
LEVELS = [(NONE, "no right"), (Level.READ.value, "look"), (Level.WRITE.value, "look, store and delete context")]


@needs("administer")
@login_required
def index(request: HttpRequest) -> HttpResponse:
    tokens = {"tokens": Count("auth_token_set", distinct=True), "last_used": Max("auth_token_set__last_used")}
    rows = User.objects.annotate(rights=Count("network_rights", distinct=True), **tokens).order_by("username")
    if query := sought(request):
        rows = rows.filter(Q(username__icontains=query) | Q(email__icontains=query))
    page = page_of(request, rows)
    guests = set(Guest.objects.filter(pk__in=[user.pk for user in page]).values_list("pk", flat=True))
    listed = [(user, roles.role_by_flags(user, is_guest=user.pk in guests).word) for user in page]
    return render(request, "accounts/list.html", {"page": page, "listed": listed})


@needs("administer")
@entered
def one(request: HttpRequest, user_id: int) -> HttpResponse:
    user = get_object_or_404(User, pk=user_id)
    if request.method != "POST":
        return _shown(request, user)
    try:
        with transaction.atomic():
            _save(user, request.POST)
    except InvalidSetting as error:
        return _shown(request, user, f"{words(error.field)}: {error.sentence}.", 400)
    except NotPossible as error:
        return _shown(request, user, str(error), 409)
    messages.success(request, f"Saved {user.get_username()}.")
    return redirect("account-one", user_id)


def _save(user: User, data: QueryDict) -> None:
    """Raises ``InvalidSetting``, ``NotPossible``."""
    role = roles.read_role(data.get("role", ""))
    if role is not roles.stored_role(user):
        roles.set_role(user, role)
    if (is_active := "active" in data) != user.is_active:
        roles.set_active(user, is_active)
    levels = {name.removeprefix("right-"): data.get(name, NONE) for name in data if name.startswith("right-")}
    if network := data.get("network", ""):
        levels[network] = data.get("level", NONE)
    roles.set_rights(user, {network: level for network, level in levels.items() if level != NONE})


def _shown(request: HttpRequest, user: User, problem: str = "", status: int = 200) -> HttpResponse:
    user.refresh_from_db()
    rights = list(user.network_rights.select_related("network").order_by("network__name"))
    others = all_networks().exclude(pk__in=[right.network_id for right in rights]).order_by("name")
    context: dict[str, Any] = {
        "person": user,
        "role": roles.stored_role(user).word,
        "roles": roles.ROLE_WORDS,
        "rights": rights,
        "levels": LEVELS,
        "others": others.values_list("pk", "name")[: roles.MOST_RIGHTS],
        "tokens": services.tokens_of(user),
        "problem": problem,
        "now": timezone.now(),
    }
    return render(request, "accounts/one.html", context, status=status)


@needs("administer")
@posted
def revoke(request: HttpRequest, user_id: int, token_id: str) -> HttpResponse:
    user = get_object_or_404(User, pk=user_id)
    services.revoke(get_object_or_404(services.tokens_of(user), id=token_id))
    messages.success(request, "Token revoked. Programs that use it no longer have access.")
    return redirect("account-one", user_id)
