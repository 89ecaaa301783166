"""How numbers, times and states are written on every page: three significant figures, the unit beside the number.

Registered as template builtins. Values that are not known are a dash, never a zero.
"""

import json
import math
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

register = template.Library()

UNKNOWN = "–"


def _number(value: Any) -> float | None:
    """A finite number, or nothing for what was not measured."""
    if value is None or value == "" or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


@register.filter
def sig3(value: Any) -> str:
    """Three significant figures without an exponent; whole numbers below 1000 as they are."""
    number = _number(value)
    if number is None:
        return UNKNOWN
    if number == 0:
        return "0"
    if number == int(number) and abs(number) < 1000:
        return str(int(number))
    return _significant(number)


def _significant(number: float) -> str:
    """Three figures also of a round number, so that a column of measurements lines up: 2.00."""
    rounded = float(f"{number:.2e}")  # 0.9999 becomes 1.00, which has a digit less behind the point
    decimals = 2 - math.floor(math.log10(abs(rounded))) if rounded else 0
    return f"{rounded:.{max(decimals, 0)}f}"


@register.filter
def count(value: Any) -> str:
    """A whole number with thin spaces between thousands."""
    number = _number(value)
    return UNKNOWN if number is None else f"{round(number):,}".replace(",", "\u202f")


@register.filter
def us(value: Any) -> str:
    """Microseconds: µs under a millisecond, then ms, then s."""
    number = _number(value)
    if number is None:
        return UNKNOWN
    size = abs(number)
    if size < 1_000:
        return f"{sig3(number)}\u202fµs"
    return f"{_significant(number / 1e3)}\u202fms" if size < 1_000_000 else f"{_significant(number / 1e6)}\u202fs"


@register.filter
def signed_us(value: Any) -> str:
    """A difference of times, as ``us`` writes them, with its sign."""
    number = _number(value)
    if number is None:
        return UNKNOWN
    return f"{'+' if number > 0 else '−' if number < 0 else ''}{us(abs(number))}"


@register.filter
def signed_points(value: Any) -> str:
    """A difference of two shares 0..1 in points of a per cent, with its sign."""
    number = _number(value)
    if number is None:
        return UNKNOWN
    return f"{'+' if number > 0 else '−'}{_significant(abs(number) * 100)}" if number else "0"


@register.filter
def size(value: Any) -> str:
    """Bytes in kB, MB or GB: SI's powers of ten, as in reports (``telemetry.charts.charts.KB``)."""
    number = _number(value)
    if number is None:
        return UNKNOWN
    if abs(number) < 1_000:
        return f"{sig3(number)}\u202fB"
    if abs(number) < 1_000_000:
        return f"{_significant(number / 1e3)}\u202fkB"
    return f"{_significant(number / 1e6)}\u202fMB" if abs(number) < 1e9 else f"{_significant(number / 1e9)}\u202fGB"


@register.filter
def percent(value: Any) -> str:
    """A share 0..1 as whole per cent."""
    number = _number(value)
    return UNKNOWN if number is None else f"{number * 100:.0f}\u202f%"


@register.filter
def share(value: Any) -> str:
    """A share 0..1 in per cent of three significant figures, and never 100 of what lacks something: 3 of 10,000 lost
    are 99.97 %."""
    number = _number(value)
    if number is None:
        return UNKNOWN
    rounded = sig3(number * 100)
    return f"{math.floor(number * 1e4) / 100 if number < 1 and float(rounded) == 100 else rounded}\u202f%"


@register.filter
def duration(value: Any) -> str:
    """Seconds as a person says them: 45 s, 6 min, 1 h 20 min, 2 d 3 h."""
    number = _number(value)
    if number is None:
        return UNKNOWN
    seconds = round(number)
    if seconds < 90:
        return f"{seconds}\u202fs"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes}\u202fmin"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours}\u202fh {minutes}\u202fmin" if minutes else f"{hours}\u202fh"
    days, hours = divmod(hours, 24)
    return f"{days}\u202fd {hours}\u202fh" if hours else f"{days}\u202fd"


@register.filter
def ago(moment: datetime | None) -> SafeString | str:
    """``<time>`` that says how long ago (or how far ahead); the script turns the title into the reader's own zone."""
    if moment is None:
        return UNKNOWN
    seconds = (timezone.now() - moment).total_seconds()
    words = _distance(abs(seconds))
    text = "now" if abs(seconds) < 5 else (f"{words} ago" if seconds > 0 else f"in {words}")
    return format_html(
        '<time datetime="{}" title="{} UTC">{}</time>', moment.isoformat(), f"{moment:%Y-%m-%d %H:%M:%S}", text
    )


def _distance(seconds: float) -> str:
    for limit, unit, word in ((90, 1, "s"), (5400, 60, "min"), (172_800, 3600, "h"), (math.inf, 86_400, "d")):
        if seconds < limit:
            return f"{round(seconds / unit)} {word}"
    raise AssertionError("the last limit is infinite")


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
def field_name(field: Any) -> str:
    """A field that a sentence is about: ``workload.update_interval_s`` → "Update interval", ``faults.0.at_s`` →
    "Fault 1, at".
    """
    group, *rest = str(field).split(".")
    if group in ("workload", "settings", "simulation") and rest:
        return words(rest[-1])
    if group in ("faults", "blocks", "thresholds") and rest and rest[0].isdigit():
        return ", ".join([f"{words(group[:-1])} {int(rest[0]) + 1}", *(words(one).lower() for one in rest[1:])])
    return words(str(field).replace(".", "_"))


@register.filter
def written(value: Any) -> str:
    """A setting's value as a person writes it: "on", "30" of 30.0."""
    if value is None or value == "":
        return UNKNOWN
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


@register.filter
def pretty(value: Any) -> str:
    """JSON a person can read."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, default=str)


_TITLES = {"rate_bytes_per_s": "Rate", "reordering_ms": "Reordering delay"}
"""Of names whose unit is more than their last word, or that would be called as another one is."""


@register.filter
def words(name: Any) -> str:
    """``update_interval_s`` → "Update interval": the unit stands beside the value. ``full-mesh`` → "Full mesh"."""
    if title := _TITLES.get(str(name)):
        return title
    parts = str(name).replace("-", "_").split("_")
    if len(parts) > 1 and parts[-1] in {"s", "ms", "us", "bytes", "kb"}:
        parts = parts[:-1]
    text = " ".join(parts)
    return text[:1].upper() + text[1:]


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
def axis(name: Any) -> str:
    """``workload.request_interval_s`` → "request interval"."""
    return words(str(name).rpartition(".")[2]).lower()


def counted(number: int, word: str) -> str:
    """ "1 run", "2,510 runs": for sentences; a number in a column is ``count``'s."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


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
def axes_counted(values: Any, name: Any) -> str:
    """What varies, counted: "4 topologies", "3 request intervals"."""
    word = axis(name)
    if word.endswith("s"):
        return f"{len(values)} {word}"
    many = f"{word[:-1]}ies" if word.endswith("y") else f"{word}{'es' if word.endswith('ch') else 's'}"
    return f"{len(values)} {many}"


@register.filter
def time_left(seconds: Any) -> SafeString | str:
    """ "6 min left"; over an hour the time of day at which it ends says more."""
    number = _number(seconds)
    if number is None:
        return ""
    return f"{duration(number)} left" if number <= 3600 else format_html("ends {}", _moment_in(number))


@register.filter
def ends_in(seconds: Any) -> SafeString | str:
    """ "in about 6 min"; over an hour the time of day."""
    number = _number(seconds)
    if number is None:
        return ""
    return f"in about {duration(number)}" if number <= 3600 else _moment_in(number)


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
    number = _number(value)
    return datetime.fromtimestamp(number / 1000, tz=UTC) if number else None


@register.filter
def iso(moment: Any) -> str:
    """ISO 8601, for ``<time>``."""
    return moment.isoformat() if isinstance(moment, datetime) else str(moment)


@register.filter
def times_1000(value: Any) -> float | None:
    """Milliseconds as microseconds."""
    number = _number(value)
    return None if number is None else number * 1000


@register.filter
def sentence(text: Any) -> str:
    """A phrase as a sentence: "behind run x" → "Behind run x."."""
    phrase = str(text or "").strip()
    return f"{phrase[:1].upper()}{phrase[1:]}{'' if phrase.endswith(('.', '?')) else '.'}" if phrase else ""


@register.filter
def interval(found: Any, unit: str) -> SafeString | str:
    """An estimate of ``telemetry.statistics.intervals`` as "1.42 ms [1.38 ms, 1.47 ms]"; without an interval for one
    replicate."""
    write = {"us": us, "size": size, "share": share, "ms": lambda ms: us(times_1000(ms)), "number": sig3}[unit]
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
