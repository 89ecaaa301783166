"""The measures of a run, from what clients and brokers reported (seed 001, details, section 4). Pure.

- ``records``         the facts that measures are made of
- ``oracle``          what was owed, and what came that should not have come, by the records of clients
- ``disturbances``    when losses are excused: around crashes, cuts and repairs
- ``disappearances``  when brokers were told that a client or broker is gone, and when all had settled
- ``figures``         all measures by name

Counterpart: ``telemetry.systems.federation.measures`` describes them.
"""

from overlay.systems.federation.measuring.figures import figures, measures

__all__ = ["figures", "measures"]
