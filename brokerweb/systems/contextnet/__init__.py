"""The web part of seed 004.

- ``messages``  the messages of a run, and one message's way
- ``gateways``  gateways of a run over time and rounds of its PoA manager; gateways of a network, which can be drained
- ``map``       nodes of a run that drive, and messages to their regions
- ``wirelab``   datagrams of the transport
"""
