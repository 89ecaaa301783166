"""The log over streams, hashes and scripts of a Valkey or Redis. Each module imports only those below it::

    engine            opens, surveys and erases logs
    users             what users of single topics may do
    log               the log of one node: requests, groups
    reading | asking  reads its partitions; blocking requests
    connection | keys one non-blocking connection; names and texts of keys and values
    scripts | resp    what Valkey runs as one step; the bytes of its protocol

``instance`` starts one that ends with its owner.
"""
