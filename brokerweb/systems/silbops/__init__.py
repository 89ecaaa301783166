"""Seed 002 on the web. Counterparts: ``overlay.systems.silbops``, ``telemetry.systems.silbops``.

- ``web``        registers pages and interfaces
- ``doors``      applications in a network over HTTP: JSON, server-sent events, webhooks, and why one gets something
- ``views``      the page that uses them
- ``running``    a run next to the one of the other arm; ``pairs`` finds it
- ``map``        where clients were, and what they were notified of
- ``breakeven``  from how many notifications per change SIENA costs less
- ``wirelab``    messages, read and written
"""
