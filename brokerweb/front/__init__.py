"""The data plane of networks: storing, querying and following context, ahead of Django and for every system.

A request that is plain and permitted is answered here, in the event loop, without a thread, a middleware or a query of
the database. Everything else goes on to Django, whose view calls the same service: what is refused is refused there,
in the same words as on any other URL::

    uvicorn ── application ──(plain)── service ──> the system's operations (``brokerweb.systems.contract.Context``)
                   │                      ^
                   └──(else)── Django ── event_loop

- ``application``  the ASGI application
- ``requests``     requests as they arrive, and whether they are answered here
- ``access_control``  who may use which network, and how much: one for REST, websockets and NGSI
- ``principals``   who asks, and may they: read from the database at most once a second
- ``known_keys``   tokens and sessions that may not exist, looked for together
- ``fresh``        values that are read again after a second, once for all who wait
- ``budgets``      operations counted against their limit, without waiting for the cache
- ``service``      one request: the system's operation, conditions, waiting, idempotency
- ``batch``        many operations in one request
- ``conditions``   ``If-Match`` and the like; pure
- ``preferences``  ``Prefer: wait``; pure
- ``idempotency``  answers kept for requests that are sent again; pure
- ``waiting``      requests that wait for data
- ``streams``      listeners to changes: limits, rights, and what ends them
- ``listeners``    one of them: what it is sent, and when it is given up
- ``channels``     changes encoded once for all listeners of a selection
- ``stream_transports``, ``sockets``  server-sent events and websockets
- ``replies``      status, headers and body; ``sending`` sends them, for all interfaces
- ``event_loop``   the way from Django's threads to the service
"""
