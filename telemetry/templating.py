"""The Jinja2 environment of all that telemetry renders: HTML and SVG are escaped, a name that is not given is an error.

A template is next to the module that renders it and is named by its path in this package: ``reports/report.html``,
``calibration/page.md``. Its filters are the functions of ``telemetry.formatting``, and ``in_unit``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateNotFound, select_autoescape

from telemetry import formatting
from telemetry.errors import TelemetryError

HERE = Path(__file__).parent
BY_HAND = "<!-- written by hand -->"
FILTERS = (
    *(formatting.count, formatting.duration, formatting.percent, formatting.share, formatting.sig3, formatting.size),
    *(formatting.us, formatting.words),
)


def render(template: str, **context: Any) -> str:
    """The text of a template. Raises ``TelemetryError`` where its file is missing, ``UndefinedError`` for a name that
    is not in ``context``."""
    try:
        return environment().get_template(template).render(context)
    except TemplateNotFound as error:
        raise TelemetryError(f"The template {error.name} is missing from the installation ({HERE}).") from None


def written_by_hand(page: Path) -> str:
    """What a person wrote on a generated page, between the marks of ``markdown.jinja``; empty where there is none."""
    pieces = page.read_text(encoding="utf-8").split(BY_HAND) if page.exists() else []
    return pieces[1].strip() if len(pieces) == 3 else ""


@cache
def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=select_autoescape(("html", "svg")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update({write.__name__: write for write in FILTERS})
    made.filters["in_unit"] = formatting.in_unit
    return made
