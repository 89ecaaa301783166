"""Where requests meet ``rights``: middleware for pages, a permission for REST, a backend for the admin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.backends import BaseBackend
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from brokerweb.accounts import rights
from brokerweb.accounts.models import Guest, NetworkRight, Scope, Token
from brokerweb.accounts.rights import Access, Level, Operation, Role

OTHERS = ("/api/", "/admin/")
"""URLs that ask by themselves: REST with a permission, the admin with a backend."""
SHOWN = frozenset({"topologies", "networks", "experiments", "reports", "storage", "notices"})
"""Applications whose rows operators see in the admin, as they do on pages."""


def role_of(user: Any) -> Role | None:
    """The role of an account; ``None`` without one, or if it is disabled."""
    if not (user and user.is_authenticated and user.is_active):
        return None
    if user.is_staff:
        return Role.ADMINISTRATOR if user.is_superuser else Role.OPERATOR
    return Role.GUEST if Guest.objects.filter(pk=user.pk).exists() else Role.VIEWER


def access_of(user: Any, token: Any = None) -> Access:
    """What a user may do, in a browser or with a token."""
    read: list[Mapping[str, Level]] = []

    def levels() -> Mapping[str, Level]:
        if not read:
            given = NetworkRight.objects.filter(user=user.pk).values_list("network_id", "level")
            read.append({network: Level(level) for network, level in given})
        return read[0]

    if not isinstance(token, Token):
        return Access(role_of(user), levels)
    limit = None if token.networks is None else frozenset(token.networks)
    return Access(role_of(user), levels, token.scope != Scope.WRITE, limit)


class Asked:
    """``request.rights``: what the user of a page may do. Templates ask ``may.change``; views name a network."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request
        self._access: Access | None = None

    @property
    def access(self) -> Access:
        if self._access is None:
            self._access = access_of(getattr(self._request, "user", None))
        return self._access

    def may(self, operation: str, network: str | None = None) -> bool:
        return not rights.refusal(self.access, Operation(operation), network)

    def require(self, operation: str, network: str | None = None) -> None:
        """Raises ``PermissionDenied`` with the reason."""
        if sentence := rights.refusal(self.access, Operation(operation), network):
            raise PermissionDenied(sentence)

    def __getitem__(self, operation: str) -> bool:
        """For templates: ``may.change``."""
        return self.may(operation)


def asked(request: HttpRequest) -> Asked:
    """What the user of a page may do."""
    found: Asked = request.rights  # type: ignore[attr-defined]
    return found


class PagesAsk:
    """Middleware: no page runs before ``rights`` has allowed it. Views that declare no operation ask for reading."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.rights = Asked(request)  # type: ignore[attr-defined]
        response: HttpResponse = self._answer(request)
        return response

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: dict[str, Any]) -> None:
        operation = getattr(view, "operation", Operation.READ)
        # Without a login, the view itself leads to the page for it, or says that a form was not lost.
        if operation is None or request.path.startswith(OTHERS) or not request.user.is_authenticated:
            return
        network = kwargs.get("network_id") or getattr(view, "network", None)
        asked(request).require(operation, network)


class Permission(BasePermission):
    """Of REST. A view may declare ``operations`` by action or method, and ``network_in``: the part of its URL that
    is a network's id. Otherwise safe methods read, and the others change.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        method = (request.method or "").lower()
        named: Mapping[str, Operation] = getattr(view, "operations", {})
        is_safe = request.method in SAFE_METHODS
        default = named.get(method, Operation.READ if is_safe else Operation.CHANGE)
        operation = named.get(getattr(view, "action", None) or method, default)
        access = access_of(request.user, request.auth)
        place = getattr(view, "network_in", None)
        network = view.kwargs.get(place, ANY_IF_SAFE[is_safe]) if place else None
        self.message = rights.refusal(access, operation, network, is_safe=is_safe)
        return not self.message


ANY_IF_SAFE = {True: rights.ANY, False: None}
"""The network of a URL that names none: a list shows those that may be seen; a deployment is about none of them."""


def shown_networks(networks: QuerySet[Any], access: Access) -> QuerySet[Any]:
    """Those that may be listed."""
    ids = rights.visible(access)
    return networks if ids is None else networks.filter(pk__in=ids)


class AdminAsks(BaseBackend):
    """Permissions in the admin by role: administrators all, operators see what pages show and use its actions.

    Django's backend adds permissions that an account or its group was given before there were roles.
    """

    def has_perm(self, user_obj: Any, perm: str, obj: Any = None) -> bool:
        application, _, named = perm.partition(".")
        is_shown = named.startswith("view_") and application in SHOWN
        needed = Operation.CHANGE if is_shown else Operation.ADMINISTER
        return not rights.refusal(access_of(user_obj), needed)

    def has_module_perms(self, user_obj: Any, app_label: str) -> bool:
        return self.has_perm(user_obj, f"{app_label}.view_")


def may(request: HttpRequest) -> dict[str, Any]:
    """Context processor: ``may.change`` and the like in templates."""
    return {"may": getattr(request, "rights", None) or Asked(request)}
