"""All measures of a run by name. Times are in the unit of their name; ``None`` where the run has nothing to measure.

Counters of brokers are those of their ticks: what they grow by from the start of measuring to the end of draining.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean

from overlay.core.processes import role_of
from overlay.core.samples import deviation, quantile
from overlay.journal.facts import Fact, Tick
from overlay.systems.federation.measuring.disappearances import known, settled_us
from overlay.systems.federation.measuring.oracle import Found, Oracle
from overlay.systems.federation.measuring.records import Facts
from overlay.systems.federation.names import BROKER
from overlay.systems.federation.rows import Queried
from overlay.systems.federation.wire.messages import Code

Figures = dict[str, float | None]

QUANTILES = (1, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 95, 99)
"""Of T_S, per cent."""
US_PER_S = 1e6
UJ_PER_J = 1e6
MS_PER_S = 1e3
NS_PER_US = 1_000


def measures(facts: Iterable[Fact]) -> Mapping[str, float | None]:
    """By the names of the contract and further ones."""
    return figures(Facts.of(facts))


def figures(facts: Facts, found: Found | None = None) -> Mapping[str, float | None]:
    """``found``: what the oracle says of these facts, if it is known."""
    published, asked = len(facts.published), facts.asked
    return {
        **_of_subscriptions(facts),
        **_of_queries(asked),
        "notifications": published,
        **_of_oracle(facts, found),
        **_of_counters(facts, len(facts.measured), len(asked), published),
        **_of_disappearances(facts),
    }


# ---- subscriptions


def _of_subscriptions(facts: Facts) -> Figures:
    measured = facts.measured
    times = sorted(one.first_us - one.intended_us for one in measured if 0 < one.first_us <= facts.expires_us(one))
    satisfied = len(times) if measured else None
    return {
        "subscriptions": len(measured),
        "satisfied": satisfied,
        "unsatisfied": len(measured) - len(times) if measured else None,
        "ts_mean_us": fmean(times) if times else None,
        "ts_sd_us": deviation(times),
        **{f"ts_p{share}_us": quantile(times, share / 100) for share in QUANTILES},
    }


def _of_queries(asked: Sequence[Queried]) -> Figures:
    """Those that went as QUERY."""
    times = sorted(one.ended_us - one.intended_us for one in asked if one.code == Code.GOOD)
    return {
        "queries": len(asked) or None,
        "queries_answered": len(times) if asked else None,
        "query_mean_us": fmean(times) if times else None,
        "query_p50_us": quantile(times, 0.5),
        "query_p95_us": quantile(times, 0.95),
    }


def _of_oracle(facts: Facts, found: Found | None) -> Figures:
    if not facts.measured and not facts.notifies:
        return dict.fromkeys(("owed", "lost", "in_window", "duplicates", "duplicates_cached", "spurious"))
    found = Oracle(facts).found() if found is None else found
    return {
        "owed": found.owed,
        "lost": found.lost,
        "in_window": found.in_window.total(),
        "duplicates": found.duplicates,
        "duplicates_cached": found.duplicates_cached,
        "spurious": found.spurious,
    }


# ---- counters


def _of_counters(facts: Facts, subscriptions: int, asked: int, published: int) -> Figures:
    questions = subscriptions + asked
    grown = {process: _growths(facts, ticks) for process, ticks in facts.ticks.items() if role_of(process) == BROKER}
    total = {name: sum(one.get(name, 0) for one in grown.values()) for name in COUNTED}
    return {
        "messages_per_notification": _per(total["out_forward"], published),
        "bytes_per_notification": _per(total["out_forward_bytes"], published),
        "messages_per_subscription": _per(total["subtable_added"], subscriptions),
        "removals_per_subscription": _per(total["subtable_removed"], subscriptions),
        "bytes_per_subscription": _per(total["out_subtable_bytes"], subscriptions),
        "cache_received": total["cache_received"],
        "cache_hit_share": _per(total["hits"], total["cache_received"]),
        "cache_hit_share_max": _most_hits(facts),
        "cache_age_mean_s": _per(total["cache_age_ms"] / MS_PER_S, total["hits"]),
        "visits_per_query": _per(total["visits"], questions),
        "utilisation_max": _utilisation(facts, grown),
        "false_positives": total["false_positives"],
        "bulk_delay_mean_s": _per(total["bulk_delay_ms"] / MS_PER_S, total["bulk_sent"]),
        "bulk_batch_mean": _per(total["bulk_sent"], total["bulk_batches"]),
        **{f"{name}_per_query_j": _joules(total[f"{name}_uj"], questions) for name in ("energy", "radio", "cpu")},
    }


COUNTED = (
    *("out_forward", "out_forward_bytes", "out_subtable_bytes", "subtable_added", "subtable_removed"),
    *("hits", "cache_received", "cache_age_ms", "visits", "busy_ns", "false_positives"),
    *("bulk_batches", "bulk_sent", "bulk_delay_ms", "energy_uj", "radio_uj", "cpu_uj"),
)


def _growths(facts: Facts, ticks: Sequence[Tick]) -> dict[str, int]:
    """Of each counter; a restart begins at 0."""
    grown = dict.fromkeys(COUNTED, 0)
    for before, tick in pairwise([Tick("", 0, {}, "", 0, 0, 0, 0), *ticks]):
        if facts.begin_us < tick.at_us <= facts.end_us:
            for name in COUNTED:
                value, earlier = tick.counters.get(name, 0), before.counters.get(name, 0)
                grown[name] += value - earlier if value >= earlier else value
    return grown


def _most_hits(facts: Facts) -> float | None:
    """The largest (hits - 1) / subscriptions received, of all brokers at all ticks: at most the cap, always (I6)."""
    shares = [
        (tick.counters.get("hits", 0) - 1) / received
        for ticks in facts.ticks.values()
        for tick in ticks
        if (received := tick.counters.get("cache_received", 0))
    ]
    return max(0.0, *shares) if shares else None


def _utilisation(facts: Facts, grown: Mapping[str, Mapping[str, int]]) -> float | None:
    """Of the busiest broker, from the first intended subscription to the last satisfied one."""
    busy = max((one["busy_ns"] for one in grown.values()), default=0)
    begins = [one.intended_us for one in facts.measured] + [one.intended_us for one in facts.asked]
    ends = [one.first_us for one in facts.measured if one.first_us] + [one.ended_us for one in facts.asked]
    if not busy or not begins or not ends or max(ends) <= min(begins):
        return None
    return busy / NS_PER_US / (max(ends) - min(begins))


def _per(amount: float, of: float) -> float | None:
    return amount / of if of else None


def _joules(uj: float, questions: int) -> float | None:
    """Of a subscription or QUERY; ``None`` without a model of energy."""
    return _per(uj / UJ_PER_J, questions) if uj else None


# ---- disappearances


def _of_disappearances(facts: Facts) -> Figures:
    settled, found = settled_us(facts), known(facts)
    since, told, graces = (found.since_vanished, found.since_removed, found.graces) if found else ([], [], [])
    return {
        "disappearance_known_mean_s": _seconds(fmean(since)) if since else None,
        "disappearance_known_max_s": _seconds(max(since)) if since else None,
        "disappearance_told_mean_s": _seconds(fmean(told)) if told else None,
        "disappearance_unknown": found.never if found else None,
        "grace_min_s": _seconds(min(graces)) if graces else None,
        "grace_max_s": _seconds(max(graces)) if graces else None,
        "settle_s": None if settled is None else _seconds(settled),
    }


def _seconds(us: float) -> float:
    return us / US_PER_S
