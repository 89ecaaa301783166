"""Spark: ``session`` and ``java`` start it, ``sweep`` simulates runs with one task each,
``standalone`` starts a master or a worker of a cluster.

Reports: ``nodes`` compute over tables of ``schema``, ``pipeline`` connects them, ``report`` writes the result.
"""

EXECUTOR_MEMORY = "768m"
"""Memory of each executor. A worker that offers less would get no work, and Spark would wait for another one."""
