"""Studies: a page for each, its launch at a scale, and what the runs of its newest experiment came to.

Counterpart: ``telemetry.studies``, which judges; ``python -m telemetry study`` does the same without the web. An
experiment remembers which study it was launched by, and at which scale; progress and cancelling are the experiment's.
"""
