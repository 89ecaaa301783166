"""Seed 003, Radiator: contexts are aggregated by one server and pushed to clients, directly or along chains of them.

- ``context``      what a message says, its canonical JSON, its limits, and joining
- ``language``     expressions: when a message leaves, how messages are aggregated, which clients share a chain
- ``aggregation``  Algorithm 1: which messages are retained for which recipient, and when they leave
- ``clients``      the server's table of clients
- ``chains``       propagations: direct pushes, chains of recipients, repair; ``wire``: the datagrams
- ``server``, ``middleware``   the two cores
"""
