"""The log over JetStream of NATS 2.9 or newer. Each module imports only those below it::

engine              opens, surveys and erases logs
log                 the log of one node: appends, heartbeats, leases
claims | reading    committed positions, which only the owner moves; records of its partitions
asking              blocking requests
connection | names  one non-blocking connection; streams, subjects and values
protocol            the bytes of NATS's protocol
"""
