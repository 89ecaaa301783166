"""Fast paths: what handles the commonest datagrams from their bytes, without building messages.

A fast path may skip parsing, message objects, general search and bookkeeping whose outcome it knows. Nothing that can
be observed may differ: datagrams, counters, traces, events, timers, what is pending, and the chance that is drawn. What
it is not certain of it leaves to its slow path. Each counts for itself, and ``Broker.counters`` adds it up.

============  =========================================================  ==========================================
here          does                                                       slow path that it mirrors
============  =========================================================  ==========================================
``sliced``    reads 2, 3, 4 and 32 by slicing                            ``wire.codec.parse``
``acks``      writes 5                                                   ``wire.codec.encode``
``replies``   tells a client which answer a datagram is                  ``wire.codec.parse``
``hits``      answers requests that the table answers                    ``Searching.handle_request``
``forwards``  sends plain walks on, and their answers back               ``Searching`` with the strategy ``Walk``
``lanes``     leads what ``sliced`` has read to its part                 ``Broker._parse`` and its handlers
``path``      composes ``hits`` and ``lanes`` for one broker             ``Broker(..., is_fast=False)``
============  =========================================================  ==========================================

``tests/fast`` compares each with its slow path, and whole brokers with and without, in arbitrary conversations. Only
``broker.broker``, ``broker.station`` (``acks``) and ``clients`` (``acks``, ``replies``) import from here.
"""
