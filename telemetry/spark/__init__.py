"""Spark: ``session`` and ``java`` start it. Reports: ``nodes`` compute over tables of ``schema``, ``pipeline`` wires them,
``report`` writes. ``sweep``: simulated runs, a task each.
"""
