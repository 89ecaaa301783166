"""The runs of a configuration as marks: hundreds on a page, so they are put together here and not by a template."""

from __future__ import annotations

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from brokerweb.experiments.results import Cell, Configuration

register = template.Library()
SUSPECT = "suspect"


@register.simple_tag
def run_marks(one: Configuration, runs: str) -> SafeString:
    """A link to each run, which looks like its state and says it; ``runs`` is the address of the list."""
    marks = format_html_join(
        "",
        '<a class="run-mark" href="{}{}/" title="{}"><span class="state state-{}">'
        '<span class="visually-hidden">{}</span></span></a>',
        ((runs, cell.run, words, _look(cell), words) for cell in one.shown for words in (_words(cell),)),
    )
    more = format_html(' <span class="soft small">and {} more</span>', one.more) if one.more else ""
    return format_html('<span class="run-marks">{}{}</span>', marks, more)


def _look(cell: Cell) -> str:
    """What has to be looked at comes before what it is."""
    return "failed" if cell.passed is False else SUSPECT if cell.verdict == SUSPECT else cell.state


def _words(cell: Cell) -> str:
    judged = {True: "thresholds held", False: "threshold broken", None: ""}[cell.passed]
    return ", ".join(filter(None, (f"Replicate {cell.replicate}: {cell.state}", cell.verdict, judged)))
