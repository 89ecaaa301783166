"""The REST API: ``*_views`` has one module per app; ``shapes`` has the request and response bodies.

Shared parts: ``resources``, ``errors``, ``auth``, ``parsers``, ``filters``, ``pages``, ``streams`` and ``schema``.
``health`` serves health checks and metrics.
"""
