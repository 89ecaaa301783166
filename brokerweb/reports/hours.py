"""Describes the times of a schedule: "Mondays at 06:00, UTC". Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from celery.schedules import crontab

from telemetry.formatting import duration

FIELDS = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
DAYS = ("Sundays", "Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
EVERY = {60: "every minute", 3600: "every hour", 86_400: "every day", 604_800: "every week"}
TIMES_TOLD = 6
"""Maximum number of times of day listed individually."""


def of_interval(seconds: int) -> str:
    """ "every day", "every 90 min"."""
    return EVERY.get(seconds) or f"every {duration(seconds)}"


def of_crontab(text: str) -> str:
    """Five crontab fields of ``celery.schedules.crontab`` as text."""
    cron: Any = crontab(**dict(zip(FIELDS, text.split(), strict=True)))
    days = _days(cron)
    times = _times(cron.minute, cron.hour)
    if times.startswith("every"):
        return f"{times}, UTC" if days == "every day" else f"{times}, {days}, UTC"
    return f"{days} {times}, UTC"


def _days(cron: Any) -> str:
    told = []
    if len(cron.day_of_week) < 7:
        told.append(_week(cron.day_of_week))
    if len(cron.day_of_month) < 31:
        told.append(f"on the {_listed(_ordinal(day) for day in sorted(cron.day_of_month))}")
    if len(cron.month_of_year) < 12:
        told.append(f"in {_listed(MONTHS[month - 1] for month in sorted(cron.month_of_year))}")
    elif len(cron.day_of_month) < 31:
        told.append("of every month")
    return " ".join(told) or "every day"


def _week(days: Collection[int]) -> str:
    if set(days) == {1, 2, 3, 4, 5}:
        return "Mondays to Fridays"
    if set(days) == {0, 6}:
        return "Saturdays and Sundays"
    return _listed(DAYS[day] for day in sorted(days, key=lambda day: (day - 1) % 7))


def _times(minutes: Collection[int], hours: Collection[int]) -> str:
    step = _step(minutes, 60)
    if len(hours) == 24 and step:
        return "every minute" if step == 1 else f"every {step} minutes"
    if len(minutes) * len(hours) <= TIMES_TOLD:
        return f"at {_listed(f'{hour:02}:{minute:02}' for hour in sorted(hours) for minute in sorted(minutes))}"
    past = f"at {_listed(f'{minute:02}' for minute in sorted(minutes))} past" if not step else f"every {step} min"
    if len(hours) == 24:
        return f"every hour {past}"
    if (every := _step(hours, 24)) and not step:
        return f"every {every} hours {past}"
    return f"{past} in the hours {_ranges(sorted(hours))}"


def _step(values: Collection[int], end: int) -> int:
    """n for 0, n, 2n, … below ``end``; 0 for anything else."""
    ordered = sorted(values)
    if len(ordered) < 2 or ordered[0]:
        return 0
    step = ordered[1]
    return step if ordered == list(range(0, end, step)) else 0


def _ranges(values: list[int]) -> str:
    """ "6 to 9 and 14"."""
    parts: list[list[int]] = []
    for value in values:
        if parts and value == parts[-1][-1] + 1:
            parts[-1].append(value)
        else:
            parts.append([value])
    return _listed(f"{part[0]} to {part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


def _ordinal(day: int) -> str:
    ending = "th" if 10 < day % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
