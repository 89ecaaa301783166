"""Tether v1, the transport between mobile nodes and gateways: reliable, ordered messages in UDP datagrams. Pure.

Each module imports only those below it::

        node │ gateway                          the two ends: handshake, epochs, resumption
        connection ── path                      an open connection, the same at both ends; its change of address
        station                                 what the connections of an end share
        sender ── congestion │ receiver         the two directions of a connection
        round_trip │ replay │ budget │ events
        controls │ layouts │ packets ── secrets the bytes: kinds of DATA, handshake, protected packets, keys
        settings

Of ``overlay.channel`` it uses the heap of deadlines and the arithmetic of numbers. Its other parts follow another
contract: records packed into datagrams instead of one fragment in each, no congestion window, a time-out between 50 ms
and 1 s, and acknowledgements that do not tell receipt from durability.
"""
