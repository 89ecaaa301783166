"""Which settings a choice uses, so that a form shows no other. Pure.

A setting that is not named here is used by every choice. What the brokers do with each is in
``overlay.systems.context_broker.broker``; a setting counts as unused only where it makes no difference at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from overlay.core.engines import LIVE
from overlay.core.settings import SettingInfo
from overlay.systems.context_broker.broker.search import STRATEGIES
from overlay.systems.context_broker.profiles import PROFILE, PROFILES

ENGINE = "engine"
"""Among the values what carries the runs out, which is no setting."""


@dataclass(frozen=True, slots=True)
class Use:
    """A setting is used where another one, or the engine, has certain values."""

    by: str
    values: tuple[str, ...] = ()
    """With which it is used; empty where a number, or a switch, says so."""
    more_than: int = 0
    """Of a number: beyond which it is used."""
    at_default: bool = False
    """Whether that is so only of its default: another value is used in any case."""

    def fits(self, value: Any) -> bool:
        if self.values:
            return value in self.values
        return value > self.more_than if isinstance(value, int | float) else bool(value)

    @property
    def words(self) -> str:
        """ "with search flood or expanding-ring", "with more than 1 of entities"."""
        name = self.by.replace("_", " ")
        if self.values:
            return f"with {name} {' or '.join(self.values)}"
        return f"with more than {self.more_than} of {name}" if self.more_than else f"with {name}"


_KEPT = ("random", "path", "requester")


def _of_searches() -> dict[str, Use]:
    """What the strategies say that they use."""
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
    # Whom a broker listens to. In a simulation there is nobody but those that it made, all of them in 127.0.0.0/8.
    **{name: Use(ENGINE, (LIVE,), at_default=True) for name in ("controller_networks", "trusted_networks")},
}
"""By name of the setting that may be unused."""


def unused(infos: Sequence[SettingInfo], values: Mapping[str, Any]) -> dict[str, str]:
    """By name, the settings that ``values`` (single ones, or lists of a sweep) do not use, and with what they would be.

    What is not among ``values`` has the default, or what the profiles in it say. Without ``engine`` among them any of
    the engines may carry the runs out.
    """
    taken = {info.name: _taken(info, values) for info in infos}
    changed = {info.name for info in infos if taken[info.name] != [info.default]}
    if ENGINE in values:
        taken[ENGINE] = _listed(values[ENGINE])
    found = {info.name: use for info in infos if (use := _missing(info.name, taken)) is not None}
    return {name: use.words for name, use in found.items() if not (use.at_default and name in changed)}


def bearing_on(names: Iterable[str], infos: Sequence[SettingInfo]) -> list[SettingInfo]:
    """Those of ``infos`` by which ``unused`` says whether ``names`` are used: these, and what each hangs on."""
    needed = set()
    for name in names:
        needed.add(name)
        while name in USES and USES[name].by not in needed:
            name = USES[name].by
            needed.add(name)
    return [info for info in infos if info.name in needed]


def _missing(name: str, taken: Mapping[str, Sequence[Any]]) -> Use | None:
    """What a setting, or one that it hangs on, lacks to be used."""
    use = USES.get(name)
    if use is None or use.by not in taken:
        return None
    return _missing(use.by, taken) or (None if any(map(use.fits, taken[use.by])) else use)


def _taken(info: SettingInfo, values: Mapping[str, Any]) -> list[Any]:
    """The values that a setting takes in the runs of a sweep."""
    if info.name in values:
        return _listed(values[info.name])
    profiles = [PROFILES.get(name, {}) for name in _listed(values.get(PROFILE.name, [PROFILE.default]))]
    return [profile.get(info.name, info.default) for profile in profiles] or [info.default]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
