"""Topologies: which brokers are neighbours, generated, imported, checked and measured.

- ``graph``       ``Graph``, its checks (sentences that say what is wrong) and its measures
- ``generators``  the literal registry ``KINDS`` and ``generate``; ``waxman`` is the one with a theory of its own
- ``params``      what can be set on each kind
- ``layout``      where each broker is drawn, in the unit square
- ``files``       GraphML and JSON node-link, in and out; ``edge_list`` the same as comma-separated values
- ``structure``   what an editor says beside the measures: cycles, bridges, clustering
- ``walking``     how far a walk has to go, by walking; ``advice`` which links to add so that it is less far
- ``difference``  what came and went between two versions of one topology

Everything is decided by ``(kind, brokers, params, seed)``; equal input gives equal links on any machine.
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
