"""Seed 001 on the web. Counterparts: ``overlay.systems.federation``, ``telemetry.systems.federation``.

- ``doors``  applications in a network over HTTP: ContextML, JSON, server-sent events and webhooks
- ``subscribing`` the page that composes a subscription, with a dry run
- ``watching`` what the servers of a network tell: tree, mobile brokers, clients
- ``web``    registers pages and interfaces
"""
