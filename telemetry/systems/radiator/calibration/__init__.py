"""The calibration of seed 003: processor time of the server and of clients, and anchors.

- ``prober``   clients with a socket each
- ``probes``   costs of the server by message and unit of work, and of a fleet by datagram
- ``plan``     costs of the model from these, and anchors
"""
