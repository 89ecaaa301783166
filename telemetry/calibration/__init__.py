"""Simulated runs held against live ones: what the calibration of each system shares.

::

    live        real servers and clients: runs to their end, and servers that stand and wait
    anchors     a configuration, live and simulated, side by side
    page        ``docs/results/calibration.md`` and its chart; ``trust``: the same, read again for the web
"""
