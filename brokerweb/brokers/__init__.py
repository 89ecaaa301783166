"""Brokers of runs and networks on pages: rows of all brokers, and the panel of one.

- ``rows``    merges several sources into one row per broker
- ``panel``   the panel of one broker
"""
