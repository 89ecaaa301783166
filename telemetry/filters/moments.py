"""Parses dates and times: ``2026-11-01``, ``2026-11-01 14:30``, ``yesterday``, ``2d ago``. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta

from telemetry.filters.errors import InvalidValue
from telemetry.filters.values import quantity

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_MINUTE = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}")
_DAY = timedelta(days=1)


def span(text: str, now: datetime) -> tuple[datetime, datetime]:
    """The start and the exclusive end of ``text``: a date is a day, a time with minutes is a minute.

    Without a time zone it is in that of ``now``. Raises ``InvalidValue``.
    """
    said = " ".join(text.strip().lower().split())
    try:
        begin, end = _span(said, text.strip(), now)
        return _utc(begin), _utc(end)
    except (ValueError, OverflowError):
        raise InvalidValue(
            f"“{text:.40}” is not a time; write it as 2026-11-01, 2026-11-01 14:30, yesterday or 2d ago"
        ) from None


def _utc(moment: datetime) -> datetime:
    """In UTC, as stored in databases. Raises ``OverflowError`` near the years 1 and 9999."""
    return moment.astimezone(UTC)


def _span(said: str, text: str, now: datetime) -> tuple[datetime, datetime]:
    today = datetime.combine(now.date(), time(), now.tzinfo)
    if said == "now":
        return now, now
    if said == "today":
        return today, today + _DAY
    if said == "yesterday":
        return today - _DAY, today
    if said.endswith(" ago"):
        try:
            moment = now - timedelta(seconds=quantity(said.removesuffix(" ago"), "s"))
        except InvalidValue:
            raise ValueError(said) from None
        return moment, moment
    moment = datetime.fromisoformat(text)
    moment = moment.replace(tzinfo=now.tzinfo) if moment.tzinfo is None else moment
    if _DATE.fullmatch(text):
        return moment, moment + _DAY
    return moment, moment + (timedelta(minutes=1) if _MINUTE.fullmatch(text) else timedelta())
