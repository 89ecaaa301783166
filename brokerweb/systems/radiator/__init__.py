"""Seed 003 on pages. Counterparts: ``overlay.systems.radiator``, ``telemetry.systems.radiator``.

- ``trying``   the fields of the page that tries an aggregability on sample messages
- ``web``      registers the page
"""
