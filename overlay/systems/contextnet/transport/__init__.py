"""Tether v1, the transport between mobile nodes and gateways: reliable, ordered messages in UDP datagrams. Pure.

Each module imports only those below it::

        node │ gateway                                  the two ends: handshake, epochs, resumption
        greeting                                        what a gateway answers to HELLOs
        members                                         the nodes of a gateway, and their epochs
        connection │ dial                               a connection with keys, alike at both ends; a node's HELLOs
        station                                         what the connections of an end share
        sender │ receiver                               the two directions of a connection
        admission │ congestion │ round_trip │ replay │ budget │ path │ terms │ events
        packets │ controls                              the bytes of a connection, and what a gateway tells in them
        secrets                                         tags, proofs, cookies, keys
        layouts                                         the bytes of the handshake
        settings

Of ``overlay.channel`` it uses the heap of deadlines. Its other parts follow another contract: records packed into
datagrams instead of one fragment in each, no congestion window, a time-out between 50 ms and 1 s, and acknowledgements
that do not tell receipt from durability.
"""
