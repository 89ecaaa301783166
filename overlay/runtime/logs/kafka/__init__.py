"""The log over a cluster of Kafka, by the library confluent-kafka. Each module imports only those below it::

    engine           opens, surveys and erases logs
    log              the log of one node
    group | writing  one group of it, with a consumer; its appends, with a producer
    looking          what a group knows of partitions that it gets; asked in a thread, since the library waits
    topics           which topics there are, and makes them
    cluster          addresses and options; names of topics and groups

The library has threads of its own, and no descriptor to be polled: the loop looks every 5 ms.
"""
