"""Seed 002 on the web. Counterparts: ``overlay.systems.silbops``, ``telemetry.systems.silbops``.

- ``web``  registers pages and interfaces
"""
