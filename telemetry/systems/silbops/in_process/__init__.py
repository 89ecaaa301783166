"""The experiments E2.1, E2.2, E2.3, E2.5 and E2.6: a broker gets decoded messages, without sockets, in this process.

Times are processor time of this thread. Arms and indexes take turns, in a new random order for each replicate; each
has the same filters, positions and order of operations.

- ``population``   subscribers, their filters and positions, and notifications, drawn from a seed
- ``brokers``      a broker's tables, and what the client's library of either arm sends them
- ``timing``       processor time of batches of messages
- ``experiments``  one replicate of an experiment as rows, which claims of studies reduce
- ``claims``       what the paper says of them, and when it counts as reproduced
- ``__main__``     runs one and prints its verdicts
"""
