"""Applications in a network of ContextNet over HTTP (``docs/contextnet.md``, Over HTTP).

::

    views ── service ── rows (the database)
                 │          │
                 ├── host ──┘── hosted ── the log of the network
                 └── places: where that is, and which nodes it knows

- ``views``, ``shapes``  addresses and bodies; ``problems``: errors
- ``service``  what the views do
- ``rows``     applications and subscriptions in the database
- ``credentials``  secrets of nodes, given out and revoked
- ``naming``   the names of networks, told to their logs
- ``granting``  users of the log, for applications that use it without HTTP
- ``host``     ``brokerweb.hosting`` for this system; ``hosted``: one application
"""
