"""Topologies: brokers and links, generated, imported, checked and measured.

- ``graph``       ``Graph``, its checks and its measures
- ``generators``  the registry ``KINDS`` and ``generate``; ``waxman``: its four variants
- ``params``      the parameters of each kind
- ``layout``      positions of brokers in the unit square
- ``files``       import and export of GraphML and JSON node-link; ``edge_list``: of comma-separated values
- ``structure``   further measures for the editor: cycles, bridges, clustering
- ``parts``       warnings about disconnected topologies
- ``walks``       the estimated length of walks; ``advice``: links that shorten them
- ``difference``  the changes between two versions of a topology

A generated topology is determined by ``(kind, brokers, params, seed)``; equal input gives equal links on any machine.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from overlay.topologies.edge_list import from_csv, to_csv
    from overlay.topologies.files import from_graphml, from_json, to_graphml, to_json
    from overlay.topologies.generators import KINDS, Kind, Preset, generate
    from overlay.topologies.graph import Graph, Limits, check, measures

__all__ = [
    "KINDS",
    "Graph",
    "Kind",
    "Limits",
    "Preset",
    "check",
    "from_csv",
    "from_graphml",
    "from_json",
    "generate",
    "measures",
    "to_csv",
    "to_graphml",
    "to_json",
]
_MODULES = {
    "edge_list": ("from_csv", "to_csv"),
    "files": ("from_graphml", "from_json", "to_graphml", "to_json"),
    "generators": ("KINDS", "Kind", "Preset", "generate"),
    "graph": ("Graph", "Limits", "check", "measures"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Imported at first use: brokers need ``Graph`` only, and NetworkX would add 20 MB to each one's process."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
