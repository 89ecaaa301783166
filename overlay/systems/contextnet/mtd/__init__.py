"""The store of messages that could not be delivered (MTD: message temporary database; contract, section 6). Pure.

::

    unsent ─> Store: a queue for each node ─ node seen again ─> gateway.<id>, settled when durable
                └ too old, too many ─> discarded
    connection_report, presence ─> Sightings          gateway.<id> of a dead gateway ─> unsent

- ``mtd``        the server
- ``store``      queues, with limits and expiry
- ``fullest``    the fullest of them
- ``expiries``   what expires when
- ``sightings``  where nodes were seen
- ``lifetimes``  how long messages are kept
- ``settings``
"""
