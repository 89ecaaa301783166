"""Seed 000 on pages and in REST.

Counterparts: ``overlay.systems.context_broker``, ``telemetry.systems.context_broker``.

- ``queries``   traced queries of runs and networks: hops and sequence diagrams
- ``replay``    the messages of a recorded run
- ``copies``    data copies by entity at the end of a run
- ``panel``     one broker: data, neighbours, latest messages
- ``context``   the REST interface of applications to context
- ``wirelab``   datagrams: decoding, composing, sending, recordings
- ``web``       registers these parts with the common pages
"""
