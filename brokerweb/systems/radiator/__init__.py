"""Seed 003 on pages. Counterparts: ``overlay.systems.radiator``, ``telemetry.systems.radiator``.

- ``trying``   the fields of the page that tries an aggregability on sample messages
- ``views``    that page, and one that decodes datagrams
- ``web``      registers the pages
"""
