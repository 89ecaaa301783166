"""Shared parts of page views: what a page requires, pagination and search.

``brokerweb.accounts.asking`` decides, before a view runs, whether its user has the right that it declares here.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from brokerweb.kit.picks import MOST_TYPED

View = Callable[..., HttpResponse]
Marked = TypeVar("Marked", bound=Callable[..., Any])
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


def needs(operation: str | None, network: str | None = None) -> Callable[[Marked], Marked]:
    """What a page asks of ``brokerweb.accounts.rights`` before it runs, instead of reading; ``None``: nothing.

    ``network`` is the network that it is about, if its URL has no ``network_id``.
    """

    def mark(view: Marked) -> Marked:
        view.operation, view.network = operation, network  # type: ignore[attr-defined]
        return view

    return mark


def changes(view: View) -> View:
    """Requires POST and the right to change."""
    return needs("change")(posted(view))


def form_page(view: View) -> View:
    """Requires the right to change, for views that show and process a form."""
    return needs("change")(entered(view))


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
