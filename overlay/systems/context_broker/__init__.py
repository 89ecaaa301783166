"""Seed 000, the decentralised context broker. Pure.

- ``wire``        the messages, each described once; parsing and encoding
- ``broker``      table, walks, replication, members, pings; ``fast``: fast paths without building messages
- ``clients``     provider, consumer and controller: retransmission until a final answer or a deadline
- ``workload``    the plan of providers and consumers; ``searches``: whether it makes brokers search
- ``profiles``    named sets of a broker's settings
- ``assembly``    the orders to join neighbours and to monitor them;
                  ``introduction``: the same state at once, without orders
- ``walking``     the estimated length of walks on a topology
- ``costs``       messages between brokers per request and update, from the brokers' counters
- ``holdings``    whether copies follow the square root of the query rate
"""
