"""Runs in virtual time: rows like all others, computed in batches on the queue ``spark``, whose worker does one thing
at a time.

::

    queued runs ──queue.begin──> a batch ──job──> python -m telemetry simulate-batch ──> told/<run>.json
                                    │                                                        │
                                    └────────────── rows moved on as each run ends <─────────┘

- ``queue``  which runs make the next batch, and what it waits for: never beside a live measurement or a report
- ``job``    carries a batch out in processes of its own and moves its rows; ``tasks``: Celery's door

How long they will take is ``brokerweb.experiments.pace``. There is no row for a batch: its runs hold the
lease. Of a worker that dies they are queued again, and what it had simulated is kept by its key.
"""
