"""Measures the service times of any system, and compares simulated with live runs.

::

    plan        what a system declares: probes of its roles, costs that follow from them, anchors
    measuring   executes the plan of a system
    live        real servers and clients: complete runs, and idle servers
    anchors     configurations, compared live and simulated
    residuals   the document of these comparisons, by system
    page        ``docs/results/calibration.md`` and its chart; ``trust``: the same for the web
"""
