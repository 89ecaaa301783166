"""Which settings a choice uses, so that a form shows no other. Pure.

A system's ``uses`` names settings that something else decides on; all others are used by every choice. A setting counts
as unused only where it makes no difference at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from overlay.core.settings import ENGINE, SettingInfo, Use
from overlay.systems.contract import PROFILE, System


def unused(system: System, infos: Sequence[SettingInfo], values: Mapping[str, Any]) -> dict[str, str]:
    """By name, the settings that ``values`` (single ones, or lists of a sweep) do not use, and with what they would be.

    What is not among ``values`` has the default, or what the profiles in it say. Without ``engine`` among them any of
    the engines may carry the runs out.
    """
    taken = {info.name: _taken(system, info, values) for info in infos}
    changed = {info.name for info in infos if taken[info.name] != [info.default]}
    if ENGINE in values:
        taken[ENGINE] = _listed(values[ENGINE])
    uses = system.uses()
    found = {info.name: use for info in infos if (use := _missing(uses, info.name, taken)) is not None}
    return {name: use.words for name, use in found.items() if not (use.at_default and name in changed)}


def bearing_on(system: System, names: Iterable[str], infos: Sequence[SettingInfo]) -> list[SettingInfo]:
    """Those of ``infos`` by which ``unused`` says whether ``names`` are used: these, and what each hangs on."""
    needed, uses = set(), system.uses()
    for name in names:
        needed.add(name)
        while name in uses and uses[name].by not in needed:
            name = uses[name].by
            needed.add(name)
    return [info for info in infos if info.name in needed]


def _missing(uses: Mapping[str, Use], name: str, taken: Mapping[str, Sequence[Any]]) -> Use | None:
    """What a setting, or one that it hangs on, lacks to be used."""
    use = uses.get(name)
    if use is None or use.by not in taken:
        return None
    return _missing(uses, use.by, taken) or (None if any(map(use.fits, taken[use.by])) else use)


def _taken(system: System, info: SettingInfo, values: Mapping[str, Any]) -> list[Any]:
    """The values that a setting takes in the runs of a sweep."""
    if info.name in values:
        return _listed(values[info.name])
    profiles = [system.profiles.get(name, {}) for name in _listed(values.get(PROFILE, []))]
    return [profile.get(info.name, info.default) for profile in profiles] or [info.default]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
