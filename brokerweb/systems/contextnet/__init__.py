"""The web part of seed 004.

- ``messages``  the messages of a run, and one message's way
- ``gateways``  gateways of a run over time and rounds of its PoA manager; gateways of a network, which can be drained
- ``wirelab``   datagrams of the transport
"""
