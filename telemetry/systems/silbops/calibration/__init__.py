"""The calibration of seed 002: processor time of brokers and of clients, and anchors.

- ``speaker``  a client, message by message
- ``probes``   costs of brokers by message
- ``plan``     costs of the model from these, and anchors
"""
