"""Applications in a network of brokers over HTTP (seed 001, section 4; ``docs/federation.md``, On the web).

::

    views, contextml_views ── service ── rows (the database)
                                 │          │
                                 └── host ──┘── hosted ──UDP── a broker
                                      │ └── sending, questions ──HTTP── URLs of applications

- ``views``, ``contextml_views``  the routes in JSON and ContextML
- ``shapes``, ``documents``  bodies; ``problems``: errors
- ``service``    what both do
- ``rows``       hosted clients and subscriptions in the database
- ``host``       ``brokerweb.hosting`` for this system; ``hosted``: one client; ``sites``: where it registers
- ``sending``    webhooks and questions to URLs
- ``questions``  providers with a URL
"""
