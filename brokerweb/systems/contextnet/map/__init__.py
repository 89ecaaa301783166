"""The map of a run whose nodes drive: nodes, regions, and messages to regions, as clients recorded them.

- ``of_runs``  what is drawn, also for REST
- ``views``, ``rest``
"""
