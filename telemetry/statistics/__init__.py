"""Figures with their spread. Pure.

- ``metrics``     percentiles, outcomes, lateness, ages; ``quantiles``: exact percentiles from counts; ``histograms``
- ``intervals``   over replicates; ``shares``: of shares
"""
