"""What every page's view shares: who may press what, pages of a list, and sentences beside fields."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

View = Callable[..., HttpResponse]
PAGE_SIZE = 25


def changes(view: View) -> View:
    """For views that only change something: operators, by POST, and nobody else."""

    @login_required
    @wraps(view)
    def door(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method != "POST":
            return HttpResponse(
                "This address changes something and takes POST only.", status=405, headers={"Allow": "POST"}
            )
        may_change(request)
        return view(request, *args, **kwargs)

    return door


def form_page(view: View) -> View:
    """For views that show a form and take it: both are for operators."""

    @login_required
    @wraps(view)
    def door(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        may_change(request)
        return view(request, *args, **kwargs)

    return door


def may_change(request: HttpRequest) -> None:
    """Raises ``PermissionDenied`` for accounts that may only look."""
    if not getattr(request.user, "is_staff", False):
        raise PermissionDenied("Only operators change things; this account may look.")


def person(request: HttpRequest) -> User:
    """Who asks. Raises ``PermissionDenied`` for a stranger."""
    if not isinstance(request.user, User):
        raise PermissionDenied("This is for people who are logged in.")
    return request.user


def page_of(request: HttpRequest, rows: QuerySet[Any], size: int = PAGE_SIZE) -> Page[Any]:
    """The page that ``?page=`` asks for; a number out of range is the nearest page."""
    return Paginator(rows, size).get_page(request.GET.get("page"))
