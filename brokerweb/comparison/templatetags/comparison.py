"""Template tags of comparisons: figures of measures, heads that sort, badges of verdicts."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from brokerweb.comparison.parameters import said
from brokerweb.kit.tags import with_query
from telemetry.formatting import share, signed
from telemetry.measures import Measure
from telemetry.reports.grouping import ends

register = template.Library()
register.filter("shown", said)
register.filter("between", ends)


@register.filter
def of(value: float | None, measure: Measure) -> str:
    return measure.text(value)


@register.filter("signed")
def difference(value: float | None, measure: Measure) -> str:
    return measure.difference(value)


@register.filter
def percent_signed(part: float | None) -> str:
    """ "+12.3 %": change relative to the baseline."""
    if part is None:
        return ""
    return signed(share, part)


@register.simple_tag(takes_context=True)
def column(context: dict[str, Any], name: str, label: str, unit: str = "", is_number: bool = True) -> SafeString:
    """A column header that sorts the table; a second click reverses the order."""
    now = context["asked"].sort
    said = {name: "ascending", f"-{name}": "descending"}.get(now, "none")
    return format_html(
        '<th scope="col" class="{}" aria-sort="{}"><a href="{}">{}</a>{}</th>',
        "num" if is_number else "",
        said,
        with_query(context, sort=f"-{name}" if now == name else name, page=None),
        label,
        format_html(' <span class="unit">{}</span>', unit) if unit else "",
    )


@register.filter
def verdict_state(word: str) -> str:
    """The badge of a verdict."""
    return {"better": "done", "worse": "failed", "no difference shown": "stopped"}.get(word, "unknown")
