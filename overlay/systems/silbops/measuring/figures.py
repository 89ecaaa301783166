"""All measures of a run by name. Times are in µs; ``None`` where the run has nothing to measure.

Counters of brokers and clients are those of their ticks: what they grow by from the start of measuring to the end of
draining.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from overlay.core.samples import mean, quantile
from overlay.journal.facts import Fact, Tick
from overlay.systems.silbops.load.times import SUBSCRIPTION_S
from overlay.systems.silbops.measuring.absences import Absences, Stays
from overlay.systems.silbops.measuring.oracle import Found, Oracle
from overlay.systems.silbops.measuring.outages import Outages
from overlay.systems.silbops.measuring.processed import ProcessedTimes
from overlay.systems.silbops.measuring.records import Facts
from overlay.systems.silbops.measuring.states import states_by_client
from overlay.systems.silbops.measuring.truth import Truth
from overlay.systems.silbops.rows import Delivered, Processed, Published, Refused, Subscribed, Unsubscribed

Figures = dict[str, float | None]

CONTROL = (
    *("out_setctx", "out_subscribe", "out_unsubscribe"),
    *("out_ctx", "out_sub", "out_unsub", "out_forget"),
)
"""Messages 10, 13, 14 and 23 to 26, sent by anyone."""
OF_PUBLICATIONS = ("out_publish", "out_pub", "out_pctx")
"""The others that are sent while measuring, but for what clients are answered and notified of."""
TOLD_US = 1_000_000
"""For tables to be told again over the tree, with ``SUBSCRIPTION_S`` for each subscription."""
NOTIFICATIONS = ("publish", "pub")
CHANGES = ("setctx", "subscribe", "unsubscribe")
"""Messages of clients when their context changes."""


def measures(facts: Iterable[Fact]) -> Mapping[str, float | None]:
    """By name."""
    return of_run(Facts.of(facts))


def of_run(facts: Facts) -> Figures:
    times = facts.times()
    return figures(facts, times, found(facts, times))


def figures(facts: Facts, times: ProcessedTimes, of: Found) -> Figures:
    return {**_of_oracle(facts, of), **_of_changes(facts, times), **_of_counters(facts)}


def found(facts: Facts, times: ProcessedTimes) -> Found:
    limits = facts.limits
    truth = Truth(
        states_by_client(facts.subscribers(times)), states_by_client(facts.publishers()), is_pruned=limits.is_pruned
    )
    served = facts.served()
    absences = {client: Absences(several) for client, several in served.items()}
    stays = {client: Stays(several) for client, several in served.items()}
    events = [one for one in facts.events if one.at_us < facts.end_us]
    outages = Outages(events, limits.parents, TOLD_US + SUBSCRIPTION_S * 1e6 * len(facts.rows[Subscribed]))
    return Oracle(truth, absences, stays, outages, limits).found(facts.publications(times), facts.arrivals())


def _of_oracle(facts: Facts, of: Found) -> Figures:
    ordered = sorted(of.latencies_us)
    return {
        "publications": len(of.owed),
        "refused": len(facts.rows[Refused]),
        "due": of.due,
        "deliveries": of.deliveries,
        "lost": of.lost,
        "lost_fault": of.lost_fault,
        "lost_kept": of.lost_kept,
        "duplicates": of.duplicates,
        "spurious": of.spurious,
        "late": _late(facts.rows[Delivered]),
        "latency_mean_us": mean(ordered),
        "latency_p95_us": quantile(ordered, 0.95),
        "kept_latency_mean_us": mean(of.kept_latencies_us),
    }


def _late(delivered: Iterable[Delivered]) -> int:
    """Those after one of a later publication of the same publisher."""
    newest: dict[tuple[str, str], int] = {}
    late = 0
    for one in sorted(delivered, key=lambda each: (each.received_us, each.number)):
        way = one.client, one.publisher
        late += one.number < newest.get(way, 0)
        newest[way] = max(one.number, newest.get(way, 0))
    return late


def _of_changes(facts: Facts, times: ProcessedTimes) -> Figures:
    changes = facts.changes()
    keys = {client: key for key, client in facts.keys.items()}
    effects = [
        (one, times.effect_of(keys.get(one.client, ""), one.called_us, one.accepted_us))
        for one in changes
        if one.accepted_us
    ]
    known = [effect - one.intended_us for one, effect in effects if effect is not None]
    return {
        "context_changes": len(changes),
        "change_accepted_mean_us": mean([one.accepted_us - one.intended_us for one, _ in effects]),
        "change_effective_mean_us": mean(known),
        "changes_settled_us": _settled_us(facts, [one.called_us for one in changes]),
        "messages_per_change": _messages_per_change(facts, len(changes)),
    }


def _settled_us(facts: Facts, changed: Sequence[int]) -> float | None:
    """From the first change to the last message about what clients have set."""
    if not changed:
        return None
    first = min(changed)
    control = [
        one.processed_us for one in facts.rows[Processed] if one.kind != "publication" and one.processed_us >= first
    ]
    return max(control) - first if control else None


def _messages_per_change(facts: Facts, changes: int) -> float | None:
    """``None`` where something else sends such messages, too: moves, subscribing while measuring, rows that end."""
    if not changes or facts.moves or not _are_only_changes(facts) or facts.has_ended_rows:
        return None
    return _sent(facts, CONTROL) / changes


def _messages_per_s(facts: Facts) -> float | None:
    seconds = (facts.measured_us - facts.begin_us) / 1e6
    return _sent(facts, (*CONTROL, *OF_PUBLICATIONS)) / seconds if facts.ticks and 0 < seconds < float("inf") else None


def _sent(facts: Facts, names: Sequence[str]) -> int:
    """By brokers and clients."""
    several = [grown(facts, ticks) for ticks in facts.ticks.values()]
    return sum(one.get(name, 0) for one in several for name in names)


def _are_only_changes(facts: Facts) -> bool:
    """Whether subscriptions were made or ended while measuring only for changes of context."""
    return not any(facts.is_measured(one.called_us) for one in (*facts.rows[Subscribed], *facts.rows[Unsubscribed]))


def _of_counters(facts: Facts) -> Figures:
    total = Counter[str]()
    for ticks in facts.ticks.values():
        total.update(grown(facts, ticks))
    gauges = Counter[str]()
    for process in facts.brokers:
        tick = _last(facts.ticks[process], facts.measured_us)
        gauges.update({} if tick is None else tick.counters)
    publications = sum(facts.is_measured(one.intended_us) for one in facts.rows[Published])
    return {
        "repeats": total["repeats"],
        "scope_errors": total["scope_errors"],
        "rows": gauges["rows_subscriptions"] if facts.brokers else None,
        "rows_forwarded": gauges["rows_forwarded"] if facts.brokers else None,
        "candidates_per_publication": _per(total["candidates"], publications),
        "messages_per_publication": _per(total["out_publish"] + total["out_pub"], publications),
        "messages_per_s": _messages_per_s(facts),
        "notification_core_us": _busy(total, NOTIFICATIONS, sum(total[f"in_{kind}"] for kind in NOTIFICATIONS)),
        "change_core_us": _busy(total, CHANGES, len(facts.changes()) if _are_only_changes(facts) else 0),
    }


def grown(facts: Facts, ticks: Sequence[Tick]) -> Mapping[str, int]:
    """What each counter grows by from the start of measuring. That of a process that starts again begins at 0."""
    found = Counter[str]()
    before: Mapping[str, int] = {}
    for tick in ticks:
        if facts.begin_us < tick.at_us <= facts.end_us:
            for name, value in tick.counters.items():
                earlier = before.get(name, 0)
                found[name] += value - earlier if value >= earlier else value
        before = tick.counters
    return found


def _last(ticks: Sequence[Tick], until_us: float) -> Tick | None:
    return next((tick for tick in reversed(ticks) if tick.at_us <= until_us), None)


def _busy(total: Mapping[str, int], kinds: Iterable[str], number: int) -> float | None:
    """Processor time of brokers for these messages, each; ``None`` if it was not taken."""
    busy_us = sum(total[f"busy_{kind}_us"] for kind in kinds)
    return _per(busy_us, number) if busy_us else None


def _per(total: float, number: int) -> float | None:
    return total / number if number else None
