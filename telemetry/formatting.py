"""Numbers, times and names in words: three significant figures, the unit next to the number. Pure.

Pages, reports, REST and commands all write with these functions; ``brokerweb/kit/tags.py`` registers them as template
filters, ``telemetry/templating.py`` as those of Jinja2. ``static/js/format.js`` does the same in a browser, and a test
compares the two. A value that is not known is a dash, never a zero.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

UNKNOWN = "–"


def number(value: Any) -> float | None:
    """A finite number; ``None`` for everything else."""
    if value is None or value == "" or isinstance(value, bool):
        return None
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None


# ---- numbers


def sig3(value: Any) -> str:
    """Three significant figures without an exponent; whole numbers below 1000 as they are."""
    found = number(value)
    if found is None:
        return UNKNOWN
    if found == int(found) and abs(found) < 1000:
        return str(int(found))
    return _significant(found)


def _significant(found: float) -> str:
    """Three figures also of a round number, so that a column of measurements lines up: 2.00."""
    rounded = float(f"{found:.2e}")  # 0.9999 becomes 1.00, which has a digit less behind the point
    decimals = 2 - math.floor(math.log10(abs(rounded))) if rounded else 0
    return f"{rounded:.{max(decimals, 0)}f}"


def count(value: Any) -> str:
    """A whole number with thin spaces between thousands."""
    found = number(value)
    return UNKNOWN if found is None else f"{round(found):,}".replace(",", "\u202f")


def counted(of: int, word: str) -> str:
    """ "1 run", "2,510 runs": for sentences; a number in a column is ``count``'s."""
    return f"{of:,} {word}{'' if of == 1 else 's'}"


def percent(value: Any) -> str:
    """A share 0..1 as whole per cent."""
    found = number(value)
    return UNKNOWN if found is None else f"{found * 100:.0f}\u202f%"


def share(value: Any) -> str:
    """A share 0..1 in per cent of three significant figures, and never 100 of what lacks something: 3 of 10,000 lost
    are 99.97 %."""
    found = number(value)
    if found is None:
        return UNKNOWN
    rounded = sig3(found * 100)
    return f"{math.floor(found * 1e4) / 100 if found < 1 and float(rounded) == 100 else rounded}\u202f%"


def signed_points(value: Any) -> str:
    """A difference of two shares 0..1 in points of a per cent, with its sign."""
    found = number(value)
    if found is None:
        return UNKNOWN
    return f"{'+' if found > 0 else '−'}{_significant(abs(found) * 100)}" if found else "0"


def per_s(value: Any) -> str:
    """A rate: "412/s"."""
    return UNKNOWN if number(value) is None else f"{sig3(value)}/s"


def joined(words: Sequence[str]) -> str:
    """ "a, b and c"."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


# ---- times


def us(value: Any) -> str:
    """Microseconds: µs under a millisecond, then ms, then s."""
    found = number(value)
    if found is None:
        return UNKNOWN
    if abs(found) < 1_000:
        return f"{sig3(found)}\u202fµs"
    return f"{_significant(found / 1e3)}\u202fms" if abs(found) < 1_000_000 else f"{_significant(found / 1e6)}\u202fs"


def ms(value: Any) -> str:
    """Milliseconds, as ``us`` writes microseconds."""
    found = number(value)
    return us(None if found is None else found * 1_000)


def signed_us(value: Any) -> str:
    """A difference of times, as ``us`` writes them, with its sign."""
    return signed(us, value)


def signed(write: Callable[[Any], str], value: Any) -> str:
    """A difference with its sign."""
    found = number(value)
    if found is None:
        return UNKNOWN
    return f"{'+' if found > 0 else '−' if found < 0 else ''}{write(abs(found))}"


def in_its_size(unit: str, values: Sequence[float | None]) -> tuple[str, list[float | None]]:
    """Values that are written with one unit, and that unit: times in ms if all are below 1 s, in µs below 1 ms, and
    energy alike. Those in other units as they are."""
    known = [abs(value) for value in values if value]
    if unit not in _SMALLER or not known or max(known) >= 1:
        return unit, list(values)
    return in_its_size(_SMALLER[unit], [None if value is None else 1_000 * value for value in values])


_SMALLER = {"s": "ms", "ms": "µs", "J": "mJ", "mJ": "µJ"}
"""The unit of a thousandth."""


def duration(value: Any) -> str:
    """Seconds as a person says them: 45 s, 6 min, 1 h 20 min, 2 d 3 h."""
    found = number(value)
    if found is None:
        return UNKNOWN
    seconds = round(found)
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


def distance(seconds: float) -> str:
    """Seconds in the one unit that fits: 45 s, 6 min, 3 h, 2 d."""
    for limit, unit, word in ((90, 1, "s"), (5400, 60, "min"), (172_800, 3600, "h"), (math.inf, 86_400, "d")):
        if seconds < limit:
            return f"{round(seconds / unit)} {word}"
    raise AssertionError("the last limit is infinite")


# ---- sizes

KB = 1000
"""Bytes in a kB, on every page and in every report: SI's, whatever the tools of a paper counted with."""


def size(value: Any) -> str:
    """Bytes in B, kB, MB or GB."""
    found = number(value)
    if found is None:
        return UNKNOWN
    if abs(found) < KB:
        return f"{sig3(found)}\u202fB"
    if abs(found) < KB**2:
        return f"{_significant(found / KB)}\u202fkB"
    return f"{_significant(found / KB**2)}\u202fMB" if abs(found) < KB**3 else f"{_significant(found / KB**3)}\u202fGB"


def seconds(value: Any) -> str:
    """Seconds, as ``us`` writes microseconds."""
    found = number(value)
    return us(None if found is None else found * 1_000_000)


def joules(value: Any) -> str:
    """Energy in µJ, mJ, J or kJ."""
    found = number(value)
    if found is None:
        return UNKNOWN
    for factor, unit in ((1e3, "kJ"), (1.0, "J"), (1e-3, "mJ")):
        if abs(found) >= factor:
            return f"{_significant(found / factor)}\u202f{unit}"
    return f"{sig3(found * 1e6)}\u202fµJ" if found else "0\u202fJ"


_WRITTEN: Mapping[str, Callable[[Any], str]] = {
    "us": us,
    "ms": ms,
    "s": seconds,
    "bytes": size,
    "J": joules,
    "share": share,
    "per_s": per_s,
    "cores": sig3,
    "": sig3,
}


def in_unit(value: Any, unit: str) -> str:
    """A value in the unit of a measure (``telemetry.measures``); things that are counted follow the number."""
    if write := _WRITTEN.get(unit):
        return write(value)
    return UNKNOWN if number(value) is None else f"{sig3(value)}\u202f{unit}"


# ---- names and values

_NUMBERS = re.compile(r"([^0-9]*)([0-9]{0,18})")
_TITLES = {"rate_bytes_per_s": "Rate", "reordering_ms": "Reordering delay"}
"""Of names whose unit is more than their last word, or that would be called as another one is."""


_UNITS_IN_NAMES = {"s", "ms", "us", "bytes", "kb"}


def words(name: Any) -> str:
    """``update_interval_s`` → "Update interval", ``rate_bytes_per_s`` → "Rate": the unit is next to the value.
    ``full-mesh`` → "Full mesh"."""
    if title := _TITLES.get(str(name)):
        return title
    parts = str(name).replace("-", "_").split("_")
    while len(parts) > 1 and parts[-1] in _UNITS_IN_NAMES:
        parts.pop()
        if len(parts) > 1 and parts[-1] == "per":
            parts.pop()
        else:
            break
    text = " ".join(parts)
    return text[:1].upper() + text[1:]


def natural(text: str) -> tuple[tuple[str, int], ...]:
    """A sort key by which numbers within texts count by size: ``{volume: 5}`` before ``{volume: 20}``."""
    return tuple((words, int(number or 0)) for words, number in _NUMBERS.findall(text))


def shortened(text: str, most: int = 40) -> str:
    """A text in one line of at most ``most`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def axis(name: Any) -> str:
    """``workload.request_interval_s`` → "request interval"."""
    return words(str(name).rpartition(".")[2]).lower()


def axes_counted(values: Any, name: Any) -> str:
    """What varies, counted: "4 topologies", "3 request intervals"."""
    word = axis(name)
    if word.endswith("s"):
        return f"{len(values)} {word}"
    many = f"{word[:-1]}ies" if word.endswith("y") else f"{word}{'es' if word.endswith('ch') else 's'}"
    return f"{len(values)} {many}"


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


def written(value: Any) -> str:
    """A setting's value as a person writes it: "on", "30" of 30.0."""
    if value is None or value == "":
        return UNKNOWN
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def pretty(value: Any) -> str:
    """JSON a person can read."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, default=str)


def sentence(text: Any) -> str:
    """A phrase as a sentence: "behind run x" → "Behind run x."."""
    phrase = str(text or "").strip()
    return f"{phrase[:1].upper()}{phrase[1:]}{'' if phrase.endswith(('.', '?')) else '.'}" if phrase else ""
