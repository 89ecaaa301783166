"""Which form an answer has: JSON, or what the address and ``?format=`` say."""

from __future__ import annotations

from collections.abc import Iterable

from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class Negotiation(DefaultContentNegotiation):
    """Refuses nobody for what ``Accept`` names.

    Tables, reports and files never pass a renderer, so who accepts nothing but ``text/html`` or ``text/csv`` may well
    be given that; errors are JSON for everybody.
    """

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        try:
            return super().select_renderer(request, renderers, format_suffix)
        except NotAcceptable:
            first = next(iter(renderers))
            return first, str(first.media_type)
