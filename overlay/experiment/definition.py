"""Definitions of experiments. They are checked completely before they are saved, and errors name the field.

Counterparts: ``sweeps`` expands a definition; ``overlay.systems.registry`` knows the settings and workload fields of a
system.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from overlay.core.engines import ENGINES, LIVE, SIMULATED, Simulation
from overlay.core.errors import InvalidSetting, shown
from overlay.core.links import Link
from overlay.core.settings import SettingInfo, build, describe
from overlay.experiment import sweeps
from overlay.faults.faults import Fault
from overlay.load.windows import OVERHEAD_S, Schedule
from overlay.systems.containment import contained
from overlay.systems.contract import System
from overlay.systems.registry import FIRST, RECORD, SYSTEMS, check_record_mb
from overlay.topologies import Graph

FIELDS: dict[str, Any] = {
    "name": None,
    "topology": None,
    "system": FIRST,
    "engine": "live",
    "settings": {},
    "workload": {},
    "faults": [],
    "simulation": {},
    "record_mb": 0,
    "thresholds": [],
    "blocks": [],
    "replicates": 1,
    "seed": 0,
}
"""Every field with its default. The name is required, and the topology unless its system has a default."""

CUSTOM = "custom"
"""The kind of a topology that no generator made."""
MAX_SEED = 2**63 - 1
MAX_REPLICATES = 1_000
MAX_RUNS = 5_000
"""Maximum runs of a definition. Ten times the published matrix is 2,510; more is usually a mistake."""
MAX_THRESHOLDS, MAX_THRESHOLD = 20, 200
"""Maximum thresholds of a definition; maximum characters of one."""
MAX_NAME = 100
"""Maximum characters in the name of an experiment or topology, so that it fits into headings and tables."""

FindTopology = Callable[[str], dict[str, Any] | None]
"""A topology's document by its id."""

Checked = tuple[dict[str, Any], list[dict[str, Any]]]


def normalised(body: Mapping[str, Any], find_topology: FindTopology) -> dict[str, Any]:
    """``body`` with defaults, after checking all its configurations. Raises ``InvalidSetting``."""
    return checked(body, find_topology)[0]


def checked(body: Mapping[str, Any], find_topology: FindTopology) -> Checked:
    """``normalised``, and the configurations. Raises ``InvalidSetting``."""
    definition = _with_defaults(body)
    _check_frame(definition)
    _check_size(definition)
    with contained(definition["system"]):
        return definition, configurations(definition, find_topology)


def configurations(definition: Mapping[str, Any], find_topology: FindTopology) -> list[dict[str, Any]]:
    """The complete configurations, checked. Raises ``InvalidSetting``."""
    found = expanded(definition, find_topology)
    graphs: dict[int, Graph] = {}
    for configuration in found:
        topology = configuration["topology"]
        if id(topology) not in graphs:
            graphs[id(topology)] = graph_of(topology)
        check_configuration(configuration, graphs[id(topology)])
    return found


def expanded(definition: Mapping[str, Any], find_topology: FindTopology) -> list[dict[str, Any]]:
    """The complete configurations: topology with links, every setting and workload field.

    They are not checked again, because that takes some milliseconds each: clients must be assigned to servers. Raises
    ``InvalidSetting`` for a deleted topology and for values that cannot be read.
    """
    definition = {**FIELDS, **definition}  # a stored definition from an earlier version may lack a field
    system = SYSTEMS[definition["system"]]
    documents: dict[str, dict[str, Any]] = {}
    found = {}
    for choice in sweeps.choices(definition):
        settings, workload = system.whole(choice["settings"]), _whole(system.workload, choice["workload"])
        topology_id = choice["topology"]
        if topology_id is None:
            topology = default_topology(system, settings, workload)
        else:
            topology = documents.get(topology_id) or _topology(topology_id, find_topology)
            documents[topology_id] = topology
        configuration = {
            "topology": topology,
            "system": definition["system"],
            "engine": definition["engine"],
            "settings": settings,
            "workload": workload,
            "faults": choice.get("faults", definition["faults"]),
        }
        if definition["engine"] == SIMULATED:
            configuration["simulation"] = _whole(describe(Simulation), definition["simulation"])
        if definition[RECORD.name]:  # part of the configuration, because recording affects the measurement
            configuration[RECORD.name] = definition[RECORD.name]
        # A default and the same value given explicitly are one configuration.
        found[sweeps.configuration_hash(configuration)] = configuration
    return list(found.values())


def check_configuration(configuration: Mapping[str, Any], graph: Graph | None = None) -> None:
    """Find errors before a launch; ``graph`` is its topology, if known. Raises ``InvalidSetting``."""
    system, topology = SYSTEMS[configuration["system"]], configuration["topology"]
    ENGINES[configuration["engine"]].check_size("topology", topology["brokers"], len(topology["links"]))
    graph = graph or graph_of(topology)
    setup = system.setup(configuration["settings"], configuration["workload"], graph)
    servers = system.check(setup)
    ENGINES[configuration["engine"]].check_size("topology", servers, len(topology["links"]))
    record_mb = configuration.get(RECORD.name, 0)
    check_record_mb(record_mb, servers)
    system.check_engine(setup, configuration["engine"], bool(record_mb))
    system.read_faults(setup, configuration["faults"])


def schedule_of(configuration: Mapping[str, Any]) -> Schedule:
    """The times of a run of this configuration."""
    system = SYSTEMS[configuration["system"]]
    graph = graph_of(configuration["topology"])
    return system.schedule(system.setup(configuration["settings"], configuration["workload"], graph))


def estimate_s(configuration: Mapping[str, Any]) -> float:
    """Duration of a live run of this configuration in seconds, from its launch to its collected result.

    It waits for the end of exchanges, usually soon, but for clients that only receive as long as the drain may last.
    """
    schedule = schedule_of(configuration)
    drain_s = schedule.drain_s if SYSTEMS[configuration["system"]].has_receivers else 0.0
    return schedule.ramp_s + schedule.duration_s + OVERHEAD_S + drain_s


def faults_of(configuration: Mapping[str, Any], seed: int) -> tuple[Fault, ...]:
    """The faults of a run of this configuration with ``seed``."""
    documents = configuration.get("faults")
    if not documents:
        return ()
    system = SYSTEMS[configuration["system"]]
    graph = graph_of(configuration["topology"])
    setup = system.setup(configuration["settings"], configuration["workload"], graph, seed)
    return system.read_faults(setup, documents)


def graph_of(topology: Mapping[str, Any]) -> Graph:
    """The topology of a configuration."""
    places = topology.get("positions")
    return Graph(
        topology["brokers"],
        tuple(Link(**link) for link in topology["links"]),
        tuple((x, y) for x, y in places) if places else None,
    )


def _whole(described: Iterable[SettingInfo], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Every setting: the chosen value, with words for numbers replaced, or the default."""
    values = {info.name: info.read(chosen.get(info.name, info.default)) for info in described}
    return {**chosen, **values}


def _with_defaults(body: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(body, Mapping):
        raise InvalidSetting("", "an experiment must be an object")
    for name in body:
        if name not in FIELDS:
            raise InvalidSetting(str(name)[:60], f"is not known; an experiment has {', '.join(FIELDS)}")
    definition = {name: body.get(name, default) for name, default in FIELDS.items()}
    for name, default in FIELDS.items():
        if definition[name] is None:
            definition[name] = default
    if definition["name"] is None:
        raise InvalidSetting("name", "is required")
    return definition


def _check_frame(definition: Mapping[str, Any]) -> System:
    name = definition["name"]
    checked_name("name", name)
    if not isinstance(definition["system"], str) or definition["system"] not in SYSTEMS:
        raise InvalidSetting("system", f"must be one of {', '.join(SYSTEMS)}, not {shown(definition['system'])}")
    system = SYSTEMS[definition["system"]]
    if definition["engine"] not in system.engines:
        raise InvalidSetting("engine", f"must be one of {', '.join(system.engines)}, not {shown(definition['engine'])}")
    _check_simulation(definition)
    RECORD.check(definition[RECORD.name])
    _check_number("seed", definition["seed"], 0, MAX_SEED)
    _check_groups(definition, "")
    if not isinstance(definition["faults"], list):
        raise InvalidSetting("faults", "must be a list of objects")
    check_thresholds(definition["thresholds"])
    if not isinstance(definition["blocks"], list):
        raise InvalidSetting("blocks", "must be a list of objects")
    for index, block in enumerate(definition["blocks"]):
        if not isinstance(block, dict):
            raise InvalidSetting(f"blocks.{index}", "must be an object")
        if unknown := set(block) - {"topology", "faults", *sweeps.SWEPT_GROUPS}:
            raise InvalidSetting(
                f"blocks.{index}.{min(unknown)}", "is not known; a block has topology, settings, workload, faults"
            )
        if not isinstance(block.get("faults", []), list):
            raise InvalidSetting(f"blocks.{index}.faults", "must be a list of objects")
        _check_groups(block, f"blocks.{index}.")
    # Last, because a caller that catches this error computes how many runs would fit, using all of the above.
    _check_number("replicates", definition["replicates"], 1, MAX_REPLICATES)
    return system


def _check_simulation(definition: Mapping[str, Any]) -> None:
    if not isinstance(definition["simulation"], dict):
        raise InvalidSetting("simulation", "must be an object of names and values")
    if definition["engine"] == LIVE and definition["simulation"]:
        raise InvalidSetting("simulation", f"is for the engine “{SIMULATED}” only")
    try:
        build(Simulation, definition["simulation"])
    except InvalidSetting as error:
        raise InvalidSetting(f"simulation.{error.field}", error.sentence) from None


def check_thresholds(texts: Any) -> None:
    """Check that they are texts; ``telemetry.thresholds`` parses them. Raises ``InvalidSetting``."""
    if not isinstance(texts, list) or len(texts) > MAX_THRESHOLDS:
        raise InvalidSetting("thresholds", f"must be a list of at most {MAX_THRESHOLDS} texts, such as p95 < 2ms")
    for index, text in enumerate(texts):
        if not isinstance(text, str) or not text.strip() or len(text) > MAX_THRESHOLD or not text.isprintable():
            raise InvalidSetting(f"thresholds.{index}", f"must be 1 to {MAX_THRESHOLD} printable characters")


def _check_groups(part: Mapping[str, Any], prefix: str) -> None:
    for group in sweeps.SWEPT_GROUPS:
        if not isinstance(part.get(group, {}), dict):
            raise InvalidSetting(prefix + group, "must be an object of names and values")


def _check_number(field: str, value: Any, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidSetting(field, f"must be a whole number from {low} to {high}, not {shown(value, 40)}")


def _check_size(definition: Mapping[str, Any]) -> None:
    runs = sweeps.count(definition) * definition["replicates"]
    if runs > MAX_RUNS:
        raise InvalidSetting("replicates", f"defines {runs} runs; at most {MAX_RUNS} are allowed per launch")


def default_topology(
    system: System, settings: Mapping[str, Any], workload: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The document of the topology of a definition that names none; networks have no workload.

    Raises ``InvalidSetting`` if the system requires one.
    """
    read = system.setup(settings, workload, Graph(0, ()))
    graph = system.default_topology(read.settings, read.workload)
    if graph is None:
        raise InvalidSetting("topology", "is required")
    return topology_document(graph, system.title)


def topology_document(graph: Graph, name: str, kind: str = CUSTOM) -> dict[str, Any]:
    """A topology as part of a configuration, for one that is not stored."""
    return {
        "id": "",
        "name": name,
        "kind": kind,
        "brokers": graph.brokers,
        "links": [link.to_json() for link in graph.links],
        "positions": [list(place) for place in graph.positions] if graph.positions else None,
    }


def _topology(topology_id: Any, find_topology: FindTopology) -> dict[str, Any]:
    document = find_topology(topology_id) if isinstance(topology_id, str) else None
    if document is None:
        raise InvalidSetting("topology", f"there is no topology with the id {shown(topology_id)}")
    return document


def checked_name(field: str, name: Any) -> str:
    """``name`` if it is valid for an experiment or a topology. Raises ``InvalidSetting``."""
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise InvalidSetting(field, f"must be 1 to {MAX_NAME} printable characters")
    return name
