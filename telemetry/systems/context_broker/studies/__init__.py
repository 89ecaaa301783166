"""The studies of seed 000: figures 4.3 to 4.7, and E0.1 to E0.10.

- ``table``      Table B.1 as rows, and what the thesis reduces of it; ``claims``: what it says of it, with criteria
- ``figures``    4.3 to 4.7; ``matrix``: E0.1 to E0.3
- ``searching``  E0.4, E0.6 and E0.8; ``living``: E0.5, E0.7 and E0.9; ``attribution``: E0.10
- ``arms``       values of arms by name, which these have in common
- ``definitions``   what is run, a file for each
"""

from __future__ import annotations

from telemetry.systems.context_broker.studies.attribution import ATTRIBUTION
from telemetry.systems.context_broker.studies.figures import FIGURES
from telemetry.systems.context_broker.studies.living import ASSIGNMENT, MEMBERSHIP, REPLICATION
from telemetry.systems.context_broker.studies.matrix import MATRIX
from telemetry.systems.context_broker.studies.searching import RARE, SCALE, STRATEGIES

STUDIES = (*FIGURES, *MATRIX, RARE, REPLICATION, STRATEGIES, MEMBERSHIP, SCALE, ASSIGNMENT, ATTRIBUTION)
