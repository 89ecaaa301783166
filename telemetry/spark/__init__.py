"""Spark: ``session`` and ``java`` start it, ``sweep`` has it simulate runs, a task each,
``standalone`` is a master or a worker of a cluster of one's own.

A report: ``nodes`` compute over tables of ``schema``, ``pipeline`` wires them, ``report`` writes what came of it.
"""

EXECUTOR_MEMORY = "768m"
"""Of each process of a cluster; a worker that offers less would get no work, and Spark would wait for another."""
