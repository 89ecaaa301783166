"""The calibration of seed 004: processor time of gateways, of servers on the log, and of clients, and anchors.

- ``speakers``  a node, datagram by datagram, and a writer of records
- ``probes``    costs of each role by what it receives and writes
- ``plan``      costs of the model from these, and anchors
"""
