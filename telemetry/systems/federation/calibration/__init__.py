"""The calibration of seed 001: processor time of brokers, of the registration service and of clients, and anchors.

- ``speaker``  a client, message by message
- ``probes``   costs of servers by message, and of fleets by datagram
- ``plan``     costs of the model from these, and anchors
"""
