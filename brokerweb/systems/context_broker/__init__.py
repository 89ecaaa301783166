"""Seed 000 on pages and in REST.

Counterparts: ``overlay.systems.context_broker``, ``telemetry.systems.context_broker``.

- ``queries``   single queries that brokers traced, of a run or a network: hop by hop, and as a sequence diagram
- ``replay``    the messages of a recorded run
- ``copies``    which entities lay at how many brokers when a run ended
- ``panel``     one broker: what it holds, whom it knows, its last messages
- ``context``   the front through which applications provide and ask
- ``wirelab``   datagrams taken apart, put together, sent and recorded
- ``web``       tells the common pages of all these
"""
