"""How the figures of a comparison are written, on its page and by its command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from brokerweb.comparison.parameters import said
from brokerweb.kit.formatting import UNKNOWN, count, share, sig3, size, times_1000, us, with_query
from telemetry.measures import Measure
from telemetry.reports.grouping import Difference, Estimate

register = template.Library()
register.filter("shown", said)

_WRITTEN: dict[str, Callable[[Any], str]] = {
    "us": us,
    "ms": lambda value: us(times_1000(value)),
    "bytes": size,
    "share": share,
    "per_s": lambda value: f"{sig3(value)}/s",
    "cores": sig3,
    "": sig3,
}


@register.filter
def of(value: Any, measure: Measure) -> str:
    """A value of a measure with its unit."""
    if value is None:
        return UNKNOWN
    if measure.is_count and float(value).is_integer():
        return count(value)
    return _WRITTEN[measure.unit](value)


@register.filter
def between(found: Estimate | Difference, measure: Measure) -> str:
    """The interval of an estimate or a difference: "[1.38 ms, 1.47 ms]"; empty where there is none."""
    if found.low is None or found.high is None:
        return ""
    write = signed if isinstance(found, Difference) else of
    return f"[{write(found.low, measure)}, {write(found.high, measure)}]"


@register.filter
def signed(value: Any, measure: Measure) -> str:
    """A difference with its sign."""
    if value is None:
        return UNKNOWN
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{of(abs(value), measure)}"


@register.filter
def percent_signed(part: float | None) -> str:
    """ "+12.3 %": how much more than the baseline."""
    if part is None:
        return ""
    return f"{'+' if part > 0 else '−' if part < 0 else ''}{share(abs(part))}"


@register.simple_tag(takes_context=True)
def column(context: dict[str, Any], name: str, label: str, unit: str = "", is_number: bool = True) -> SafeString:
    """The head of a column that sorts the table by it, and a second time from the other end."""
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
    """Which badge a verdict has."""
    return {"better": "done", "worse": "failed", "no difference shown": "stopped"}.get(word, "unknown")
