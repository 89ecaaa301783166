"""The page of the change log."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse

from brokerweb.changelog import services
from brokerweb.changelog.difference import pairs
from brokerweb.changelog.models import Change
from brokerweb.kit.origin import SOURCES
from brokerweb.kit.view_guards import page_of, sought

PAGES = {
    "topology": "topologies:detail",
    "network": "networks:detail",
    "experiment": "experiments:detail",
    "run": "runs:detail",
    "report": "reports:detail",
    "schedule": "schedules:detail",
    "notification": "targets:edit",
    "account": "account-one",
}
"""Pages of objects, by kind."""
FILTERS = ("kind", "object_id", "source", "request_id")
MOST_LETTERS = 80


@login_required
def index(request: HttpRequest) -> HttpResponse:
    may_see_accounts = request.rights.may("administer")  # type: ignore[attr-defined]
    rows = services.matching(services.shown(of_accounts=may_see_accounts), sought(request))
    asked = {name: value[:MOST_LETTERS] for name in FILTERS if (value := request.GET.get(name, ""))}
    page = page_of(request, rows.filter(**asked), 50)
    query = {**asked, **({"q": sought(request)} if sought(request) else {})}
    context = {
        "page": page,
        "rows": [_row(change) for change in page],
        "kinds": [*services.KINDS, *(services.OF_ACCOUNTS if may_see_accounts else ())],
        "sources": SOURCES,
        "asked": asked,
        "query": urlencode(query),
        "one": page.object_list[0] if asked.get("object_id") and page.object_list else None,
    }
    return render(request, "changelog/list.html", context)


def _row(change: Change) -> dict[str, Any]:
    is_gone = change.action in ("delete", "revoke")
    name = PAGES.get(change.kind)
    try:
        url = reverse(name, args=[change.object_id]) if name and not is_gone else ""
    except NoReverseMatch:
        url = ""
    return {"change": change, "url": url, "values": pairs(change.before, change.after)}
