"""Shared parts of page views: permission decorators, pagination and search."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from brokerweb.kit.picks import MOST_TYPED

View = Callable[..., HttpResponse]
PAGE_SIZE = 25


def entered(view: View) -> View:
    """Requires login. A form submitted after the session has ended gets an error instead of a redirect that loses
    its data.
    """
    guarded = login_required(view)

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method != "POST" or request.user.is_authenticated:
            return guarded(request, *args, **kwargs)
        if "HX-Request" in request.headers:
            words = "You are logged out. Log in in another tab, return to this one and submit again."
            return HttpResponse(words, content_type="text/plain", status=403)
        return render(request, "logged_out.html", status=403)

    return wrapper


def posted(view: View) -> View:
    """Requires login and POST."""

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method != "POST":
            answer = render(request, "405.html", status=405)
            answer["Allow"] = "POST"
            return answer
        return view(request, *args, **kwargs)

    return entered(wrapper)


def changes(view: View) -> View:
    """Requires an operator and POST."""

    @posted
    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        may_change(request)
        return view(request, *args, **kwargs)

    return wrapper


def form_page(view: View) -> View:
    """Requires an operator, for views that show and process a form."""

    @entered
    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        may_change(request)
        return view(request, *args, **kwargs)

    return wrapper


def may_change(request: HttpRequest) -> None:
    """Raises ``PermissionDenied`` for read-only accounts."""
    if not getattr(request.user, "is_staff", False):
        raise PermissionDenied("This account is read-only. Changes need the operator role.")


def person(request: HttpRequest) -> User:
    """The logged-in user. Raises ``PermissionDenied`` without login."""
    if not isinstance(request.user, User):
        raise PermissionDenied("Login required.")
    return request.user


def sought(request: HttpRequest) -> str:
    """The search text in ``?q=``, truncated: databases limit the length of patterns."""
    return request.GET.get("q", "").strip()[:MOST_TYPED]


def page_of(request: HttpRequest, rows: QuerySet[Any] | Sequence[Any], size: int = PAGE_SIZE) -> Page[Any]:
    """The page in ``?page=``; a number out of range gives the nearest page."""
    return Paginator(rows, size).get_page(request.GET.get("page"))
