"""What-if: one change to the configuration of a completed run, whose effect can then be measured alone. Pure.

Counterparts: ``brokerweb.experiments.whatif`` repeats the run with the same seed, ``telemetry.reports.paired``
compares it request by request. A change is an object with one field::

    {"add_link": [0, 5]}           with the shape of most links of the topology
    {"cut_link": [0, 1]}
    {"kill": 3}                    dead from the start of measuring
    {"settings": {"search": "flood"}}
    {"record_mb": 64}              the same run, recorded

No change affects arrivals. The time, the content and the server of each request depend only on the seed, the workload
and the number of brokers, and on positions if clients are assigned to the nearest broker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from overlay.core.errors import InvalidSetting, shown
from overlay.core.links import Link
from overlay.experiment.definition import check_configuration
from overlay.faults.faults import KILL
from overlay.systems.contract import PROFILE
from overlay.systems.registry import RECORD, SYSTEMS

Configuration = dict[str, Any]

MAX_CHANGED_NAME = 200
"""Maximum characters in the name of a topology after several changes. Its end, with the latest changes, is kept."""


def changed(configuration: Mapping[str, Any], change: Any) -> Configuration:
    """The checked ``configuration`` with this one change. Raises ``InvalidSetting``."""
    if not isinstance(change, Mapping) or len(change) != 1:
        raise InvalidSetting("", f"must be an object with exactly one of {', '.join(CHANGES)}")
    ((name, value),) = change.items()
    if name not in CHANGES:
        raise InvalidSetting(str(name)[:60], f"is not known; a change is one of {', '.join(CHANGES)}")
    found = CHANGES[name]({"faults": [], **configuration}, value)  # a run of an earlier version may lack them
    check_configuration(found)
    return found


def in_words(change: Mapping[str, Any]) -> str:
    """A change in words, for a heading."""
    ((name, value),) = change.items()
    if name in ("add_link", "cut_link"):
        return f"{'with a link' if name == 'add_link' else 'without the link'} {value[0]}–{value[1]}"
    if name == "kill":
        return f"broker {value} dead"
    if name == RECORD.name:
        return "recorded" if value else "not recorded"
    ((setting, to),) = value.items()
    return f"{setting} = {('off', 'on')[to] if isinstance(to, bool) else to}"


def _add_link(configuration: Mapping[str, Any], value: Any) -> Configuration:
    a, b = _ends(configuration, "add_link", value)
    links = configuration["topology"]["links"]
    if any(_ends_of(link) == (a, b) for link in links):
        raise InvalidSetting("add_link", f"brokers {a} and {b} are linked already")
    shapes = Counter(tuple(sorted((k, v) for k, v in link.items() if k not in ("a", "b"))) for link in links)
    shape = dict(shapes.most_common(1)[0][0]) if shapes else {}
    return _with_links(configuration, [*links, {"a": a, "b": b, **shape}], f"with {a}–{b}")


def _cut_link(configuration: Mapping[str, Any], value: Any) -> Configuration:
    a, b = _ends(configuration, "cut_link", value)
    links = configuration["topology"]["links"]
    kept = [link for link in links if _ends_of(link) != (a, b)]
    if len(kept) == len(links):
        raise InvalidSetting("cut_link", f"brokers {a} and {b} are not linked")
    return _with_links(configuration, kept, f"without {a}–{b}")


def _with_links(configuration: Mapping[str, Any], links: list[dict[str, Any]], words: str) -> Configuration:
    topology = configuration["topology"]
    name = f"{topology.get('name', '')}, {words}".strip(", ")[-MAX_CHANGED_NAME:]
    return {**configuration, "topology": {**topology, "links": links, "name": name}}


def _kill(configuration: Mapping[str, Any], value: Any) -> Configuration:
    broker = _broker(configuration, "kill", value)
    fault = {"what": KILL, "brokers": [broker], "at_s": 0}
    return {**configuration, "faults": [*configuration["faults"], fault]}


def _settings(configuration: Mapping[str, Any], value: Any) -> Configuration:
    if not isinstance(value, Mapping) or len(value) != 1:
        raise InvalidSetting("settings", "must be an object with exactly one setting and its value")
    ((name, to),) = value.items()
    infos = {info.name: info for info in SYSTEMS[configuration["system"]].settings}
    if name not in infos or name == PROFILE:
        raise InvalidSetting(f"settings.{str(name)[:60]}", "is not a setting of a broker")
    to = infos[name].read(to)
    if configuration["settings"].get(name, infos[name].default) == to:
        raise InvalidSetting(f"settings.{name}", f"is {shown(to, 40)} already")
    return {**configuration, "settings": {**configuration["settings"], name: to}}


def _record_mb(configuration: Mapping[str, Any], value: Any) -> Configuration:
    RECORD.check(value)
    if configuration.get(RECORD.name, RECORD.default) == value:
        raise InvalidSetting(RECORD.name, f"is {value} already")
    rest = {name: kept for name, kept in configuration.items() if name != RECORD.name}
    return {**rest, RECORD.name: value} if value else rest


CHANGES: dict[str, Callable[[Mapping[str, Any], Any], Configuration]] = {
    "add_link": _add_link,
    "cut_link": _cut_link,
    "kill": _kill,
    "settings": _settings,
    RECORD.name: _record_mb,
}


def _ends(configuration: Mapping[str, Any], field: str, value: Any) -> tuple[int, int]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InvalidSetting(field, "must be the numbers of two brokers")
    a, b = (_broker(configuration, field, one) for one in value)
    if a == b:
        raise InvalidSetting(field, f"joins broker {a} to itself")
    return Link(a, b).ends


def _ends_of(link: Mapping[str, Any]) -> tuple[int, int]:
    return Link(link["a"], link["b"]).ends


def _broker(configuration: Mapping[str, Any], field: str, value: Any) -> int:
    brokers = configuration["topology"]["brokers"]
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < brokers:
        raise InvalidSetting(field, f"must be the number of a broker, 0 to {brokers - 1}, not {shown(value, 40)}")
    return value
