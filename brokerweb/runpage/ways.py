"""A message's way over the servers of a run, as ``templates/parts/way.html`` and ``static/js/walk.js`` take it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from telemetry.charts.sequences import Sent

REQUEST, ANSWER, REFUSAL, FILTERED = "request", "answer", "refusal", "filtered"
"""How a passage is drawn: solid, dashed, as what did not arrive, and dotted as what was not sent."""


def walk(
    passages: Iterable[Sent],
    index: Callable[[str], int],
    *,
    entered: str | None,
    found: Iterable[str],
    stored: Iterable[str],
    filtered: Iterable[tuple[str, str]],
    is_back: Callable[[Sent], bool] = lambda one: False,
) -> dict[str, Any]:
    """``index``: of a server among all, by its name. ``entered`` gets a thick ring, ``found`` diamonds, ``stored``
    stars. ``is_back``: whether a passage is dashed."""

    def drawn(one: Sent) -> dict[str, Any]:
        kind = REFUSAL if one.is_lost else ANSWER if is_back(one) else REQUEST
        return _passage(one.number, kind, index(str(one.sender)), index(str(one.receiver)), _took_us(one))

    withheld = [_passage(None, FILTERED, index(sender), index(receiver), None) for sender, receiver in filtered]
    return {
        "asked": None if entered is None else index(entered),
        "found": [index(name) for name in found],
        "stored": [index(name) for name in stored],
        "passages": [*map(drawn, passages), *withheld],
    }


def passage_rows(passages: Sequence[Sent]) -> list[dict[str, Any]]:
    """Of the table next to it."""
    return [
        {
            "number": one.number,
            "kind": one.kind,
            "sender": one.sender,
            "receiver": one.receiver,
            "us": _took_us(one),
            "is_lost": one.is_lost,
        }
        for one in passages
    ]


def _took_us(one: Sent) -> int | None:
    return None if one.arrived_us is None else one.arrived_us - one.sent_us


def _passage(number: int | None, kind: str, sender: int, receiver: int, us: int | None) -> dict[str, Any]:
    ms = None if us is None else us / 1000
    return {"number": number, "kind": kind, "sender": sender, "receiver": receiver, "ms": ms, "round_ms": None}
