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
