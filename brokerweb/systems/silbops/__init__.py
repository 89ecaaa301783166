"""Seed 002 on the web. Counterparts: ``overlay.systems.silbops``, ``telemetry.systems.silbops``.

- ``doors``  applications in a network over HTTP: JSON, server-sent events and webhooks, and why one gets what it gets
- ``views``  the page that uses them
- ``wirelab``  datagrams: the wire lab of every system, for this one
- ``web``    registers pages and interfaces
"""
