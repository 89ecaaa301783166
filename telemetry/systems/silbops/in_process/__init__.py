"""Configurations on one broker that gets decoded messages, without sockets, in this process.

Times are processor time of this thread. Arms and indexes take turns, in a new random order for each replicate; each
has the same filters, positions and order of operations.

- ``population``  the clients of a workload: their filters and positions, and notifications
- ``brokers``     a broker's tables, and what the client's library of either arm sends them
- ``timing``      processor time of batches of messages
- ``measuring``   one replicate of a study: its configurations with their measures
"""
