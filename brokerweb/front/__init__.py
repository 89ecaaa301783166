"""The data plane of networks: storing, querying and following context, ahead of Django and for every system.

A request that is plain and permitted is answered here, in the event loop, without a thread, a middleware or a query of
the database. Everything else goes on to Django, whose view calls the same service: what is refused is refused there,
in the same words as on any other URL::

    uvicorn ── application ──(plain)── service ──> the system's operations (``brokerweb.systems.contract.Context``)
                   │                      ^
                   └──(else)── Django ── door

- ``application``  the ASGI application
- ``visitors``     who asks, and may they: read from the database at most once a second
- ``fresh``        values that are read again after a second, once for all who wait
- ``budgets``      requests counted against the limit of REST, without waiting for the cache
- ``service``      one request: the system's operation, conditions, waiting, idempotency
- ``batch``        many operations in one request
- ``conditions``   ``If-Match`` and the like; pure
- ``preferences``  ``Prefer: wait``; pure
- ``idempotency``  answers kept for requests that are sent again; pure
- ``waiting``      requests that wait for data
- ``streams``      listeners to changes: limits, rights, and what ends them
- ``channels``     changes encoded once for all listeners of a selection
- ``stream_transports``, ``sockets``  server-sent events and websockets
- ``replies``      status, headers and body
- ``door``         the way from Django's threads to the service
"""
