"""Clients of networks that the web process hosts for applications on HTTP. A system has its own clients, rows and
addresses; what all have in common is here::

    the system's views ── its Host ──┬── rows (the database)
                            │        └── its clients ──UDP── brokers
                            ├── sending ──HTTP── URLs of applications
                            └── feed ── streams of ``brokerweb.front``

- ``host``     makes the clients what the rows say; ``lease``: which process does
- ``rows``     what the columns of subscriptions count
- ``sending``  webhooks; ``outbox``: what waits for one
- ``feed``, ``streams``  what happens, as streams
- ``models``   the lease, and the columns of all subscriptions
- ``views``    what views of these networks have in common; ``problems``: errors
"""
