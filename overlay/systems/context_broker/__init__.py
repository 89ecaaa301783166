"""Seed 000, the decentralised context broker. Pure.

- ``wire``        the messages, each described once; bytes to messages and back
- ``broker``      table, walks, replication, members, pings; ``fast``: what it and clients do without building messages
- ``clients``     provider, consumer and controller: retransmission until a terminal answer, and a deadline
- ``workload``    who provides and asks what, when, of which broker; ``searches``: whether it makes brokers search
- ``profiles``    named sets of a broker's settings
- ``assembly``    of the brokers that are up, which is ordered to join whom, and to watch its neighbours;
                  ``introduction``: the same at once, without orders
- ``walking``     how far a walk has to go on a topology
- ``costs``       what requests and updates cost between brokers, by the brokers' counters
- ``holdings``    whether copies follow the square root of the query rate
"""
