"""The other transport between mobile nodes and gateways: QUIC (RFC 9000) by aioquic, live only.

QUIC brings encryption, loss recovery, congestion control and migration. What it does not have is above it, alike with
Tether: who a node is, epochs, durable acknowledgement, lingering, resumption (``transport.serving``, ``calling``).

Each module imports only those below it::

    node │ gateway      the two ends
    line                a QUIC connection with our frames on its stream 0
    board │ terms       what the lines of an end share; what they tell QUIC
    frames              the bytes of frames
    certificate         of a gateway

Only a process whose setting ``transport`` is ``quic`` imports them: aioquic and cryptography take 20 MB.
"""
