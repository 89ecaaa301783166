"""The map of a run: cameras, vehicles with their squares, and notifications, as clients recorded them.

- ``of_runs``  what is drawn, also for REST
- ``views``, ``rest``
"""
