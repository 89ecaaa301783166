"""The search page, for use without scripts or with a URL."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from brokerweb.accounts.asking import asked
from brokerweb.finder.services import LONGEST, Found, find
from brokerweb.kit.view_guards import person
from overlay.core.errors import InvalidSetting


@login_required
def index(request: HttpRequest) -> HttpResponse:
    text = request.GET.get("q", "")
    found, wrong = list[Found](), ""
    try:
        found = find(text, person(request), may_change=asked(request).may("change"))
    except InvalidSetting as error:
        wrong = error.sentence
    context = {"text": text[: 2 * LONGEST], "found": found, "wrong": wrong, "longest": LONGEST}
    return render(request, "search/page.html", context, status=400 if wrong else 200)
