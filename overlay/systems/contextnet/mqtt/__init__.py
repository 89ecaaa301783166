"""The MQTT proxy: devices that only speak MQTT 3.1.1 write to topics of the log, and read what is for them. Pure.

Each module imports only those below it::

        proxy       the server: clients, the log
        client      one connection: what follows from its packets
        credentials who may connect
        mapping     topics of MQTT to topics of the log
        packets     bytes

Not in this version: wills, retained messages, kept sessions, QoS 2, subscriptions to other topics, TLS.
"""
