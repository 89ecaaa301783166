"""Many runs in virtual time, as one batch: spread over processes or by Spark, told of while they go, taken up again.

::

    SPEC ──command──> batch ──> processes ──┐
    rows of the web ──┘   └──> spark.sweep ─┴─ work.perform ──> telemetry.sweep.simulation, a run at a time
                            told/<run>.json <────────┘

- ``batch``      the orders in a directory, what is told of each, and what is to stop; ``costs``: what each will take
- ``work``       one order carried out, in whatever process; ``processes``: several at a time on this machine
- ``command``    ``python -m telemetry sweep SPEC``; ``page``: what it prints

Counterparts: ``telemetry.spark.sweep`` hands orders to Spark; ``brokerweb.simulations`` makes batches of queued runs.
"""
