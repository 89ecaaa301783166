"""Which web pages may use the gateway: those of the origins that its operator allows, by default of none. Pure.

A browser says of which page a request is (``Origin``), and makes simple ones without asking first: without this check
any page could register its visitor, whose address is perhaps not reachable for the page's author. Fetch standard, 3.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus

from overlay.core.errors import WaxwingError
from overlay.programs.radiator.requests import Wrong

PREFLIGHT = {
    "Access-Control-Allow-Methods": "DELETE, GET, POST",
    "Access-Control-Allow-Headers": "Content-Encoding, Content-Type, Last-Event-ID",
    "Access-Control-Max-Age": "600",
}
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#@\sA-Z]+")


class Origins:
    """``allowed`` are as browsers send them: ``https://example.org``, with the port if it is not the usual one."""

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        """Raises ``WaxwingError``."""
        self._allowed = frozenset(allowed)
        for origin in self._allowed:
            if not _ORIGIN.fullmatch(origin):
                raise WaxwingError(f"{origin[:100]!r} is no origin, such as https://example.org, in lower case")

    def headers(self, request: Mapping[str, str]) -> dict[str, str]:
        """Of the answer to a request with these headers. Raises ``Wrong`` if its page may not make it."""
        origin = request.get("origin")
        if origin is None:
            return {}
        if origin not in self._allowed:
            sentence = f"web pages of {origin[:100]!r} may not use this gateway; its option --origin allows them"
            raise Wrong(HTTPStatus.FORBIDDEN, sentence)
        expose = "Access-Control-Expose-Headers"
        return {"Access-Control-Allow-Origin": origin, expose: "Retry-After", "Vary": "Origin"}
