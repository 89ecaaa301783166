"""Seed 001 on the web. Counterparts: ``overlay.systems.federation``, ``telemetry.systems.federation``.

- ``doors``  applications in a network over HTTP: ContextML, JSON, server-sent events and webhooks
- ``web``    registers pages and interfaces
"""
