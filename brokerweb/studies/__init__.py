"""Studies: a page for each, launches at a scale, and results of the latest experiment.

Counterpart: ``telemetry.studies`` evaluates them; ``python -m telemetry study`` does the same without the web. An
experiment stores the study and the scale that launched it; progress and cancelling are the experiment's.
"""
