"""Tether v1, the transport between mobile nodes and gateways: reliable, ordered messages in UDP datagrams. Pure.

Each module imports only those below it::

    node │ gateway                                  the two ends over Tether
    greeting                                        what a gateway answers to HELLOs
    connection                                      a line with keys, alike at both ends
    serving │ calling                               the two ends, whatever carries their lines: epochs, resumption
    gate │ dial                                     whom a gateway lets in; a node's attempts to reach one
    members                                         the nodes of a gateway, and their epochs
    station                                         what the lines of an end share
    line                                            a connection, as its end sees it
    sender │ receiver                               the two directions of a connection
    admission │ congestion │ round_trip │ replay │ budget │ path │ terms │ events
    packets │ controls                              the bytes of a connection, and what a gateway tells in them
    secrets                                         tags, proofs, cookies, keys
    layouts                                         the bytes of the handshake
    settings

``quic`` has another transport on the parts from ``sender`` to ``serving`` and ``calling``.

Of ``overlay.channel`` it uses the heap of deadlines. Its other parts follow another contract: records packed into
datagrams instead of one fragment in each, no congestion window, a time-out between 50 ms and 1 s, and acknowledgements
that do not tell receipt from durability.
"""
