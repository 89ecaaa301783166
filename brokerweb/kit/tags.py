"""Template filters and tags of every page, registered as builtins: numbers, times and names as ``telemetry.formatting``
writes them, badges, swatches, entries of the rail.
"""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django import template
from django.conf import settings
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.core.service_times import missing_costs
from overlay.core.settings import help_lines
from overlay.experiment.whatif import in_words
from overlay.runtime.calibrated import stored_services
from overlay.systems.registry import SYSTEMS, system_of
from overlay.topologies import parts
from telemetry import formatting
from telemetry.charts.figures import figure
from telemetry.formatting import UNKNOWN, counted, distance, duration, in_unit, number, words

register = template.Library()
register.simple_tag(figure, name="chart_figure")


@register.simple_tag(takes_context=True)
def may_on(context: dict[str, Any], operation: str, network: Any) -> bool:
    """Whether the page's user may do this on a network; ``may.change`` is about everything."""
    return bool(context["may"].may(operation, network.pk))


for _write in (
    formatting.axes_counted,
    formatting.axis,
    formatting.count,
    formatting.duration,
    formatting.field_name,
    formatting.ms,
    formatting.percent,
    formatting.pretty,
    formatting.sentence,
    formatting.share,
    formatting.sig3,
    formatting.signed_points,
    formatting.signed_us,
    formatting.size,
    formatting.us,
    formatting.words,
    formatting.written,
):
    register.filter(_write)


register.filter(missing_costs)


@register.simple_tag
def default_costs(system: str) -> str:
    """The sentence for simulated figures of ``system`` whose costs are not all measured here; empty if they are."""
    try:
        return missing_costs(stored_services(Path(settings.VAR), system_of(system)).unmeasured)
    except InvalidSetting:  # the page of the calibration shows the reason
        return ""


@register.filter
def ago(moment: datetime | None) -> SafeString | str:
    """``<time>`` with a relative time; the script converts the title to the reader's time zone."""
    if moment is None:
        return UNKNOWN
    seconds = (timezone.now() - moment).total_seconds()
    away = distance(abs(seconds))
    text = "now" if abs(seconds) < 5 else (f"{away} ago" if seconds > 0 else f"in {away}")
    return format_html(
        '<time datetime="{}" title="{} UTC">{}</time>', moment.isoformat(), f"{moment:%Y-%m-%d %H:%M:%S}", text
    )


@register.filter
def to_the_second(moment: datetime) -> SafeString:
    """``<time>`` of a log whose rows follow within seconds; the script converts it to the reader's time zone."""
    exact = f"{moment:%Y-%m-%d %H:%M:%S}"
    text = f"{moment.day} {moment:%b %H:%M:%S}"
    return format_html(
        '<time datetime="{}" data-exact="seconds" title="{} UTC">{}</time>', moment.isoformat(), exact, text
    )


@register.filter
def state(word: Any) -> SafeString:
    """A state as a badge: shape, word and colour together."""
    name = str(word or "unknown")
    return format_html('<span class="state state-{}">{}</span>', name.replace(" ", "-"), name)


JUDGED = {"passed": "done", "broken": "failed", "open": "queued"}
"""Badge style by threshold verdict."""


@register.filter
def judged(word: str) -> SafeString:
    """A threshold verdict as a badge."""
    return format_html('<span class="state state-{}">{}</span>', JUDGED[word], word)


@register.filter
def kept_thresholds(passed: Any) -> SafeString | str:
    """Whether a run passed its thresholds, as a badge; empty without thresholds."""
    return "" if passed is None else judged("passed" if passed else "broken")


@register.filter
def engine(word: Any) -> SafeString | str:
    """The mark "simulated" next to simulated figures; empty for live ones."""
    return (
        format_html('<span class="simulated" title="{}">simulated</span>', SIMULATED_TITLE) if word == SIMULATED else ""
    )


SIMULATED_TITLE = "Simulated in virtual time with modelled service times."
OUTCOME_STATES = {
    **dict.fromkeys(("answered", "done", "unchanged"), "done"),
    **dict.fromkeys(("not_found", "precondition"), "suspect"),
    **dict.fromkeys(("refused", "forbidden", "no_answer", "failed", "lost"), "failed"),
}
"""Badge style by outcome of a query or another operation."""


@register.filter
def changed(change: Any) -> str:
    """The change of a what-if run: "without the link 0–1"."""
    return in_words(change) if change else ""


@register.filter
def outcome(word: Any, said: str = "") -> SafeString:
    """A query's outcome as a badge; ``said`` replaces the label."""
    name = str(word)
    state = OUTCOME_STATES.get(name, "unknown")
    return format_html('<span class="state state-{}">{}</span>', state, said or name.replace("_", " "))


@register.filter
def report_state(word: Any) -> SafeString:
    """As ``state``; a report that is *running* works and will end, a network that is *running* is well."""
    name = str(word)
    return format_html('<span class="state state-{}">{}</span>', "running-report" if name == "running" else name, name)


DELIVERY_STATES = {"waiting": "queued", "delivered": "done", "failed": "failed"}


@register.filter
def delivery(word: Any) -> SafeString:
    """A delivery's state as a badge."""
    return format_html('<span class="state state-{}">{}</span>', DELIVERY_STATES.get(str(word), "unknown"), word)


@register.filter
def at(mapping: Any, key: Any) -> Any:
    """``mapping[key]``, or nothing."""
    return mapping.get(key) if isinstance(mapping, dict) else None


@register.filter
def nth(items: Any, index: Any) -> Any:
    """``items[index]``, or nothing."""
    return items[index] if isinstance(items, list) and isinstance(index, int) and index < len(items) else None


@register.filter
def in_parts(document: Any, removed: Collection[int] = ()) -> str:
    """A warning if a launched topology without the removed brokers is disconnected; otherwise empty."""
    return parts.at_work(document, removed)


@register.filter
def swatch(name: Any) -> SafeString:
    """A series' colour next to its name."""
    return format_html('<span class="swatch swatch-{}" aria-hidden="true"></span>{}', name, words(name))


@register.filter
def field_attributes(attributes: dict[str, Any]) -> SafeString:
    """``name="value"`` pairs of an input; empty ones left out."""
    pairs = [(key, value) for key, value in attributes.items() if value not in (None, "", False)]
    return format_html_join("", ' {}="{}"', pairs)


@register.inclusion_tag("parts/entry.html", takes_context=True)
def entry(context: dict[str, Any], name: str, icon: str, label: str, key: str = "") -> dict[str, Any]:
    """A navigation entry, marked on its pages; ``key`` is its shortcut after g.

    Empty if the installation has no page with this ``name``.
    """
    try:
        url = reverse(name)
    except NoReverseMatch:
        return {}
    path = getattr(context.get("request"), "path", "")
    current = path == url if url == "/" else path.startswith(url)
    return {"url": url, "icon": icon, "label": label, "key": key, "current": current}


@register.simple_tag(takes_context=True)
def with_query(context: dict[str, Any], **changes: Any) -> str:
    """The current query string with some parameters changed; ``None`` removes one."""
    query = context["request"].GET.copy()
    for name, value in changes.items():
        query.pop(name, None)
        if value is not None:
            query[name] = value
    return "?" + query.urlencode()


@register.filter
def named_lines(text: str) -> SafeString:
    """A help text that explains several names: one line each."""
    return format_html_join(mark_safe("<br>"), "{}", ((line,) for line in help_lines(text)))


@register.filter
def swatch_only(name: Any) -> SafeString:
    """A series' fixed colour, for where its name stands already."""
    return format_html('<span class="swatch swatch-{}" aria-hidden="true"></span>', name)


@register.filter
def clients(configuration: Any) -> str:
    """The number of clients of each kind: "50 callers"."""
    system = SYSTEMS[configuration["system"]]
    return ", ".join(
        counted(configuration["workload"].get(name, 0), name.removesuffix("s")) for name in system.client_fields
    )


@register.filter
def client_numbers(configuration: Any) -> str:
    """ "50 + 1000", for a column."""
    system = SYSTEMS[configuration["system"]]
    return " + ".join(str(configuration["workload"].get(name, 0)) for name in system.client_fields)


@register.filter
def time_left(seconds: Any) -> SafeString | str:
    """ "6 min left"; above an hour, the time of day."""
    left = number(seconds)
    if left is None:
        return ""
    return f"{duration(left)} left" if left <= 3600 else format_html("ends {}", _moment_in(left))


@register.filter
def ends_in(seconds: Any) -> SafeString | str:
    """ "in about 6 min"; above an hour, the time of day."""
    left = number(seconds)
    if left is None:
        return ""
    return f"in about {duration(left)}" if left <= 3600 else _moment_in(left)


def _moment_in(seconds: float) -> SafeString:
    """``<time>`` in the future; the script converts it to the reader's time zone."""
    moment = timezone.now() + timedelta(seconds=seconds)
    return format_html('<time datetime="{}" data-exact>{} UTC</time>', moment.isoformat(), f"{moment:%a %H:%M}")


@register.filter
def up(brokers: Any) -> int:
    """Number of running brokers of a network."""
    return sum(broker.get("state") == "up" for broker in brokers or [])


@register.filter
def until(begin: Any, end: Any) -> str:
    """The duration between two moments."""
    known = isinstance(begin, datetime) and isinstance(end, datetime)
    return duration((end - begin).total_seconds()) if known else UNKNOWN


@register.filter
def unix_ms(value: Any) -> datetime | None:
    """Unix milliseconds as a moment."""
    found = number(value)
    return datetime.fromtimestamp(found / 1000, tz=UTC) if found else None


@register.filter
def iso(moment: Any) -> str:
    """ISO 8601, for ``<time>``."""
    return moment.isoformat() if isinstance(moment, datetime) else str(moment)


@register.filter
def interval(found: Any, unit: str) -> SafeString | str:
    """An estimate of ``telemetry.statistics.intervals`` as "1.42 ms [1.38 ms, 1.47 ms]", in a unit of measures; without
    an interval for one replicate."""

    def write(value: Any) -> str:
        return in_unit(value, unit).replace("-", "−")

    if not isinstance(found, dict) or found.get("value") is None:
        return UNKNOWN
    if found.get("low") is None or found.get("high") is None:
        return write(found["value"])
    return format_html(
        '{}<div class="soft small">[{}, {}]</div>', write(found["value"]), write(found["low"]), write(found["high"])
    )


@register.filter
def differs(factor: Any) -> str:
    """The name of a factor in which a published row differs, whether told by name or with its values."""
    return str(factor[0] if isinstance(factor, (list, tuple)) else factor)
