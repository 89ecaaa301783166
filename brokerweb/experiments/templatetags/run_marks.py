"""Renders the runs of a configuration as marks; in Python, because a page may have hundreds."""

from __future__ import annotations

from functools import lru_cache

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from brokerweb.experiments.results import Configuration

register = template.Library()
SUSPECT = "suspect"


@register.simple_tag
def run_marks(one: Configuration, runs: str) -> SafeString:
    """A link to each run that shows its state; ``runs`` is the URL of the list."""
    begin = format_html('<a class="run-mark" href="{}', runs)
    marks = [f"{begin}{cell.run}/{_rest(cell.replicate, cell.state, cell.verdict, cell.passed)}" for cell in one.shown]
    more = format_html(' <span class="soft small">and {} more</span>', one.more) if one.more else ""
    return format_html('<span class="run-marks">{}{}</span>', SafeString("".join(marks)), more)


@lru_cache(maxsize=4_096)
def _rest(replicate: int, state: str, verdict: str, passed: bool | None) -> SafeString:
    """The part of a mark after the run's id. Cached: most of hundreds of runs have the same."""
    judged = {True: "thresholds held", False: "threshold broken", None: ""}[passed]
    words = ", ".join(filter(None, (f"Replicate {replicate}: {state}", verdict, judged)))
    # Problems take precedence over the state.
    look = "failed" if passed is False else SUSPECT if verdict == SUSPECT else state
    return format_html(
        '" title="{}"><span class="state state-{}"><span class="visually-hidden">{}</span></span></a>',
        words,
        look,
        words,
    )
