"""Conditions under which settings of brokers, or of the workload, are used. Pure."""

from __future__ import annotations

from overlay.core.engines import LIVE
from overlay.core.settings import ENGINE, Use
from overlay.systems.context_broker.broker.search import STRATEGIES

_KEPT = ("random", "path", "requester")


def _of_searches() -> dict[str, Use]:
    """The settings declared by the strategies."""
    users: dict[str, tuple[str, ...]] = {}
    for name, strategy in STRATEGIES.items():
        for used in strategy.uses:
            users[used] = (*users.get(used, ()), name)
    return {used: Use("search", names) for used, names in users.items()}


USES: dict[str, Use] = {
    "search": Use("arm", ("unstructured",)),
    **_of_searches(),
    "replication": Use("arm", ("unstructured",)),
    "replication_index": Use("replication", ("random",)),
    "replication_threshold_ms": Use("replication", _KEPT),
    "replica_refresh": Use("replication", _KEPT),
    "replica_lease_ms": Use("replica_refresh"),
    "hop_tries": Use("hop_ack"),
    **{
        name: Use("arm", ("structured",))
        for name in ("dht_replicas", "dht_parallel", "dht_bucket", "dht_timeout_ms", "dht_deadline_ms")
    },
    "dht_refresh_ms": Use("arm", ("structured",)),
    "neighbours_wanted": Use("membership", ("greedy", "random")),
    "neighbours_least": Use("membership", ("greedy", "random")),
    "ping_interval_ms": Use("monitoring"),
    "ping_misses": Use("monitoring"),
    "indirect_probes": Use("monitoring"),
    "suspicion_rounds": Use("indirect_probes"),
    "trace_steps": Use("trace_one_in"),
    "update_interval_s": Use("providers"),
    "payload_bytes": Use("providers"),
    "valid_ms": Use("providers"),
    "entities": Use("providers"),
    "holders": Use("providers"),
    "request_interval_s": Use("consumers"),
    "acknowledgements": Use("consumers"),
    "popularity": Use("entities", more_than=1),
    "session_shape": Use("churn", ("weibull",)),
    "churn_schedule": Use("churn", ("file",)),
    **{
        name: Use("churn", ("exponential", "weibull"))
        for name in ("session_mean_s", "downtime_mean_s", "churn_leave_share", "churn_brokers_kept")
    },
    **{name: Use(ENGINE, (LIVE,)) for name in ("withdrawal_ms", "feed_readers")},  # simulated clients send neither
    # The networks that a broker trusts. In a simulation all addresses are in 127.0.0.0/8.
    **{name: Use(ENGINE, (LIVE,), at_default=True) for name in ("controller_networks", "trusted_networks")},
}
"""Conditions by name of the setting."""
