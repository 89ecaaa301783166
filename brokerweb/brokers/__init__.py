"""Brokers of runs and networks on pages: rows of all brokers, and the panel of one.

- ``rows``    merges several sources into one row per broker
- ``names``   what the servers are called
- ``overlay`` the drawing of all servers
- ``panel``   the panel of one broker
"""
