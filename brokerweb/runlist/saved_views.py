"""Lists and comparisons as their owners set them up, under names: the query of an address."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from brokerweb.experiments.models import SavedView
from overlay.core.errors import InvalidSetting

PAGES = ("runs", "compare")
MOST_VIEWS = 100
"""Of one person on one page."""
MOST_NAME, MOST_QUERY = 80, 2_000


def of(owner: User, page: str) -> QuerySet[SavedView]:
    """The views that ``owner`` saved on a page, by name."""
    return SavedView.objects.filter(owner=owner, page=page).order_by("name")


@transaction.atomic  # IMMEDIATE: of a form that is sent twice at once the second finds the name taken
def save(owner: User, page: object, name: object, query: object) -> SavedView:
    """A new view. Raises ``InvalidSetting``."""
    if page not in PAGES:
        raise InvalidSetting("page", f"must be one of {', '.join(PAGES)}, not {page!r:.40}")
    if not isinstance(query, str) or len(query) > MOST_QUERY or not query.isprintable():
        raise InvalidSetting("query", f"must be the query of an address, at most {MOST_QUERY:,} characters")
    checked = _checked_name(owner, str(page), name)
    if of(owner, str(page)).count() >= MOST_VIEWS:
        raise InvalidSetting("name", f"there are {MOST_VIEWS} views already; delete one first")
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
        raise InvalidSetting("name", f"there is a view called “{text}” already; choose another name or delete that one")
    return text
