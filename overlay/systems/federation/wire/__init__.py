"""Messages of the federation (seed 001, section 3, and details, section 1), and the values in them. Pure.

- ``values``      subscriptions, notifications, advertisements
- ``messages``    one class for each of the 24 messages
- ``kinds``, ``composites``, ``notes``   the types of fields, with their limits
- ``layouts``, ``table``   every message, field by field
- ``codec``       reading and writing what the table says
- ``inspection``  the questions of operators, which are no messages of the network
- ``sums``        sums of tables, by which two brokers compare them
"""
