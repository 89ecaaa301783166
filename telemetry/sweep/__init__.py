"""Many simulated runs as one batch: distributed over processes or by Spark, with progress, resumable.

::

    SPEC ──command──> batch ──> processes ──┐
    rows of the web ──┘   └──> spark.sweep ─┴─ work.perform ──> telemetry.sweep.simulation, a run at a time
                            told/<run>.json <────────┘

- ``batch``      a directory with the orders, their progress, and requests to stop; ``costs``: estimated seconds and
  bytes
- ``work``       executes one order, in any process; ``processes``: several at a time on this machine
- ``page``       the output of ``python -m telemetry sweep SPEC``

Counterparts: ``telemetry.spark.sweep`` passes orders to Spark; ``brokerweb.simulations`` creates batches of queued
runs.
"""
