"""Saved views: named query strings of lists and comparisons."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from brokerweb.experiments.models import SavedView
from overlay.core.errors import InvalidSetting, shown

PAGES = ("runs", "compare")
MOST_VIEWS = 100
"""Per user and page."""
MOST_NAME, MOST_QUERY = 80, 2_000


def of(owner: User, page: str) -> QuerySet[SavedView]:
    """The views of ``owner`` for a page, sorted by name."""
    return SavedView.objects.filter(owner=owner, page=page).order_by("name")


@transaction.atomic  # IMMEDIATE: of two concurrent requests, the second finds the name taken
def save(owner: User, page: object, name: object, query: object) -> SavedView:
    """Create a view. Raises ``InvalidSetting``."""
    if page not in PAGES:
        raise InvalidSetting("page", f"must be one of {', '.join(PAGES)}, not {shown(page, 40)}")
    if not isinstance(query, str) or len(query) > MOST_QUERY or not query.isprintable():
        raise InvalidSetting("query", f"must be a query string of at most {MOST_QUERY:,} characters")
    checked = _checked_name(owner, str(page), name)
    if of(owner, str(page)).count() >= MOST_VIEWS:
        raise InvalidSetting("name", f"the limit of {MOST_VIEWS} views is reached; delete one first")
    return SavedView.objects.create(owner=owner, page=page, name=checked, query=query.removeprefix("?"))


@transaction.atomic
def rename(view: SavedView, name: object) -> SavedView:
    """Raises ``InvalidSetting``."""
    view.name = _checked_name(view.owner, view.page, name, view)
    view.save()
    return view


def _checked_name(owner: User, page: str, name: object, view: SavedView | None = None) -> str:
    text = " ".join(name.split()) if isinstance(name, str) else ""
    if not text or len(text) > MOST_NAME or not text.isprintable():
        raise InvalidSetting("name", f"must be 1 to {MOST_NAME} printable characters")
    others = of(owner, page).filter(name=text)
    if (others.exclude(pk=view.pk) if view else others).exists():
        raise InvalidSetting("name", f"a view named “{text}” exists; choose another name or delete it")
    return text
