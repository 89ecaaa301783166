"""Applications in a network of SilboPS over HTTP (``docs/silbops.md``, Over HTTP).

::

    views ── service ── rows (the database)
                 │          │
                 ├── host ──┘── hosted ──UDP── a broker
                 └── why ──UDP── every broker

- ``views``, ``shapes``  addresses and bodies; ``documents``: what bodies say, checked; ``problems``: errors
- ``service``  what the views do
- ``rows``     clients and subscriptions in the database
- ``host``     ``brokerweb.hosting`` for this system; ``hosted``: one client; ``sites``: where it attaches
- ``why``      a dry publication
"""
