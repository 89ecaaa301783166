"""Spark: ``session`` and ``java`` start it, ``sweep`` has it simulate runs, a task each.

A report: ``nodes`` compute over tables of ``schema``, ``pipeline`` wires them, ``report`` writes what came of it.
"""
