"""Seed 004 on the web.

- ``web``       what it adds to common pages and REST
- ``messages``  the messages of a run, and one message's way
- ``gateways``  gateways of a run over time and rounds of its PoA manager; gateways of a network, which can be drained
- ``map``       nodes of a run that drive, and messages to their regions
- ``nodes``     a part of a network's page: nodes and their secrets
- ``doors``     applications over HTTP; ``models``: their rows
- ``wirelab``   datagrams of the transport
"""
