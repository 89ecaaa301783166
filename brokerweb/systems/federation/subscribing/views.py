"""The page that composes a subscription. Its script tries it by REST."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from brokerweb.networks.models import Network
from brokerweb.systems.federation.subscribing.recent import MOST
from brokerweb.systems.federation.watching.views import of_a_network
from overlay.systems.federation.language.tree import OPERATORS, RESERVED

OPERATOR_WORDS = {
    "=": "= equals",
    "!=": "≠ differs from",
    "<": "< less than",
    "<=": "≤ at most",
    ">": "> greater than",
    ">=": "≥ at least",
    "in": "one of",
    "between": "between",
    "exists": "exists",
    "prefix": "begins with",
    "contains": "contains",
}


@login_required
@of_a_network
def compose(request: HttpRequest, network: Network) -> HttpResponse:
    """Begins with ``?scopes=`` (separated by commas) and ``?expression=``, so that a draft can be shared."""
    language = {
        "operators": [[name, OPERATOR_WORDS[name], *counts] for name, counts in OPERATORS.items()],
        "reserved": list(RESERVED),
    }
    begin = {"scopes": request.GET.get("scopes", ""), "expression": request.GET.get("expression", "")}
    context = {"network": network, "language": language, "begin": begin, "most": MOST}
    context["first"] = next((row["address"] for row in network.brokers), "")
    return render(request, "federation/compose.html", context)
