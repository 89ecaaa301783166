"""The REST API: ``*_views`` has one module per app; ``shapes`` has the request and response bodies.

Shared parts: ``resources``, ``errors``, ``answers``, ``idempotency``, ``parsers``, ``filters``, ``pages``, ``sparse``,
``operations``, ``schema`` and its ``examples``.
``health`` serves health checks and metrics.
"""
