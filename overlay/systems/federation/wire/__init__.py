"""Messages of the federation (seed 001, section 3, and details, section 1), and the values in them. Pure.

- ``values``      subscriptions, notifications, advertisements
- ``messages``    one class for each of the 24 messages
- ``composites``, ``notes``   types of fields in addition to those of ``overlay.messages``
- ``layouts``, ``table``   every message, field by field
- ``codec``       reading and writing what the table says, the most frequent ones on paths of their own
- ``inspection``  the questions of operators, which are no messages of the network
- ``sums``        sums of tables, by which two brokers compare them
"""
