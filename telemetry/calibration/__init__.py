"""Comparison of simulated and live runs, for the calibration of any system.

::

    live        real servers and clients: complete runs, and idle servers
    anchors     configurations, compared live and simulated
    page        ``docs/results/calibration.md`` and its chart; ``trust``: the same for the web
"""
