"""Runs in virtual time, computed in batches on the queue ``spark``, whose worker runs one task
at a time.

::

    queued runs ──queue.begin──> a batch ──job──> python -m telemetry simulate-batch ──> told/<run>.json
                                    │                                                        │
                                    └────────────── rows moved on as each run ends <─────────┘

- ``queue``  selects the runs of the next batch; never concurrent with a live measurement or a report
- ``job``    runs a batch in separate processes and updates its rows; ``tasks``: Celery tasks

``brokerweb.experiments.run_durations`` estimates durations. There is no row for a batch: its runs hold the
lease. If a worker dies, they are queued again, and finished simulations are reused by key.
"""
