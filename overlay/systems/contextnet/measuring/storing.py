"""Messages to nodes that were off, and those of them that were stored and sent."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict

from overlay.systems.contextnet.measuring.facts import Facts
from overlay.systems.contextnet.measuring.ledger import Figures, Ledger
from overlay.systems.contextnet.rows import Absence, Stayed

SENT = "sent"


def figures(facts: Facts, ledger: Ledger) -> Figures:
    stored = sorted(one.rtt_us for one in facts.due if one.is_answered and ledger.was_stored(one))
    due_us = {one.id: one.intended_us for one in facts.due}
    waits = [one.ended_us - due_us[one.id] for one in facts.rows[Stayed] if one.ending == SENT and one.id in due_us]
    return {
        "stored_delay_mean_s": sum(stored) / len(stored) / 1e6 if stored else None,
        "stored_longest_s": max(waits) / 1e6 if waits else None,
        "due_while_off": _due_while_off(facts),
    }


def _due_while_off(facts: Facts) -> int:
    absences = defaultdict(list)
    for one in sorted(facts.rows[Absence], key=lambda one: one.off_us):
        absences[one.node].append(one)
    count = 0
    for due in facts.due:
        of = absences.get(due.node, ())
        place = bisect_right(of, due.intended_us, key=lambda one: one.off_us)
        count += bool(place) and due.intended_us < of[place - 1].on_us
    return count
