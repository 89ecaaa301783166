"""Template filters and tags of every page, registered as builtins: numbers, times and names as ``telemetry.formatting``
writes them, badges, swatches, entries of the rail.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from django import template
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from overlay.core.engines import SIMULATED
from overlay.core.settings import help_lines
from overlay.experiment.whatif import in_words
from overlay.systems.registry import SYSTEMS
from overlay.topologies import parts
from telemetry import formatting
from telemetry.charts.figures import figure
from telemetry.formatting import UNKNOWN, WRITTEN, counted, distance, duration, number, words

register = template.Library()
register.simple_tag(figure, name="chart_figure")

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


@register.filter
def ago(moment: datetime | None) -> SafeString | str:
    """``<time>`` that says how long ago (or how far ahead); the script turns the title into the reader's own zone."""
    if moment is None:
        return UNKNOWN
    seconds = (timezone.now() - moment).total_seconds()
    away = distance(abs(seconds))
    text = "now" if abs(seconds) < 5 else (f"{away} ago" if seconds > 0 else f"in {away}")
    return format_html(
        '<time datetime="{}" title="{} UTC">{}</time>', moment.isoformat(), f"{moment:%Y-%m-%d %H:%M:%S}", text
    )


@register.filter
def state(word: Any) -> SafeString:
    """A state as a badge: shape, word and colour together."""
    name = str(word or "unknown")
    return format_html('<span class="state state-{}">{}</span>', name.replace(" ", "-"), name)


JUDGED = {"passed": "done", "broken": "failed", "open": "queued"}
"""What came of thresholds, to the state that it looks like."""


@register.filter
def judged(word: str) -> SafeString:
    """What came of thresholds as a badge."""
    return format_html('<span class="state state-{}">{}</span>', JUDGED[word], word)


@register.filter
def kept_thresholds(passed: Any) -> SafeString | str:
    """Whether a run kept all that was demanded of it, as a badge; nothing where nothing was."""
    return "" if passed is None else judged("passed" if passed else "broken")


@register.filter
def engine(word: Any) -> SafeString | str:
    """Beside whatever has figures: the word "simulated" where they are; nothing for what was measured."""
    return (
        format_html('<span class="simulated" title="{}">simulated</span>', SIMULATED_TITLE) if word == SIMULATED else ""
    )


SIMULATED_TITLE = "In virtual time: the same brokers, and a model of how long things take."
OUTCOME_STATES = {"answered": "done", "not_found": "suspect", "refused": "failed", "lost": "failed"}


@register.filter
def changed(change: Any) -> str:
    """What a run changes of another: "without the link 0–1"."""
    return in_words(change) if change else ""


@register.filter
def outcome(word: Any, said: str = "") -> SafeString:
    """How a query ended, as a badge like a state's; ``said`` are other words for it."""
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
    """How a notification went, as a badge like a state's."""
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
def in_parts(document: Any) -> str:
    """What it means for its answers that a topology that was launched falls into parts; empty where it does not."""
    return parts.at_work(document)


@register.filter
def swatch(name: Any) -> SafeString:
    """A series' fixed colour beside its name."""
    return format_html('<span class="swatch swatch-{}" aria-hidden="true"></span>{}', name, words(name))


@register.filter
def field_attributes(attributes: dict[str, Any]) -> SafeString:
    """``name="value"`` pairs of an input; empty ones left out."""
    pairs = [(key, value) for key, value in attributes.items() if value not in (None, "", False)]
    return format_html_join("", ' {}="{}"', pairs)


@register.inclusion_tag("parts/entry.html", takes_context=True)
def entry(context: dict[str, Any], name: str, icon: str, label: str, key: str = "") -> dict[str, Any]:
    """One entry of the rail, marked when the page shown lies under it; ``key`` after g goes there.

    A house without the page of that ``name`` has no entry for it.
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
    """The address's query with some parameters changed; ``None`` takes one away."""
    query = context["request"].GET.copy()
    for name, value in changes.items():
        query.pop(name, None)
        if value is not None:
            query[name] = value
    return "?" + query.urlencode()


@register.filter
def named_lines(text: str) -> SafeString:
    """A help that says what each of several names is: each begins a line."""
    return format_html_join(mark_safe("<br>"), "{}", ((line,) for line in help_lines(text)))


@register.filter
def swatch_only(name: Any) -> SafeString:
    """A series' fixed colour, for where its name stands already."""
    return format_html('<span class="swatch swatch-{}" aria-hidden="true"></span>', name)


@register.filter
def clients(configuration: Any) -> str:
    """ "50 providers, 1,000 consumers"."""
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
    """ "6 min left"; over an hour the time of day at which it ends says more."""
    left = number(seconds)
    if left is None:
        return ""
    return f"{duration(left)} left" if left <= 3600 else format_html("ends {}", _moment_in(left))


@register.filter
def ends_in(seconds: Any) -> SafeString | str:
    """ "in about 6 min"; over an hour the time of day."""
    left = number(seconds)
    if left is None:
        return ""
    return f"in about {duration(left)}" if left <= 3600 else _moment_in(left)


def _moment_in(seconds: float) -> SafeString:
    """``<time>`` that lies ahead; the script writes it in the reader's zone."""
    moment = timezone.now() + timedelta(seconds=seconds)
    return format_html('<time datetime="{}" data-exact>{} UTC</time>', moment.isoformat(), f"{moment:%a %H:%M}")


@register.filter
def up(brokers: Any) -> int:
    """How many of a network's brokers are up."""
    return sum(broker.get("state") == "up" for broker in brokers or [])


@register.filter
def until(begin: Any, end: Any) -> str:
    """How long something took."""
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
    write = WRITTEN[unit]
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
