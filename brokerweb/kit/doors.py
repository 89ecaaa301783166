"""What every page's view shares: who may press what, pages of a list, and sentences beside fields."""

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
    """For people who are logged in. What a form sends after the log-in has ended is refused, not lost by a redirect."""
    guarded = login_required(view)

    @wraps(view)
    def door(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method != "POST" or request.user.is_authenticated:
            return guarded(request, *args, **kwargs)
        if "HX-Request" in request.headers:
            words = "You were logged out. Log in in another tab, come back to this one, and send it again."
            return HttpResponse(words, content_type="text/plain", status=403)
        return render(request, "logged_out.html", status=403)

    return door


def posted(view: View) -> View:
    """For views that take what people who are logged in send, by POST, and show nothing."""

    @wraps(view)
    def door(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method != "POST":
            answer = render(request, "405.html", status=405)
            answer["Allow"] = "POST"
            return answer
        return view(request, *args, **kwargs)

    return entered(door)


def changes(view: View) -> View:
    """For views that only change something: operators, by POST, and nobody else."""

    @posted
    @wraps(view)
    def door(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        may_change(request)
        return view(request, *args, **kwargs)

    return door


def form_page(view: View) -> View:
    """For views that show a form and take it: both are for operators."""

    @entered
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


def sought(request: HttpRequest) -> str:
    """What ``?q=`` seeks in a list, as much of it as anybody types: the database refuses patterns of many pages."""
    return request.GET.get("q", "").strip()[:MOST_TYPED]


def page_of(request: HttpRequest, rows: QuerySet[Any] | Sequence[Any], size: int = PAGE_SIZE) -> Page[Any]:
    """The page that ``?page=`` asks for; a number out of range is the nearest page."""
    return Paginator(rows, size).get_page(request.GET.get("page"))
