"""The broker: a ``Node``. ``core`` joins its rooms; each has the state and the messages of one subject.

- ``station``     what the rooms share: messages, tables, deadlines, counters
- ``clients``     the broker's own clients: attached, away, gone; ``client`` is one of them, ``kept`` what waits for it
- ``requests``    what clients set: context, subscriptions, advertisements, and why it is refused; validity
- ``routing``     publications: to neighbours, own clients and those that have moved
- ``arriving``    ATTACH: clients that are new, come back, or come from another broker
- ``leaving``     clients that go to another broker; ``parts``: a long TAKE
- ``visits``      sessions with brokers that are no neighbours, for that
- ``neighbours``  the edges of the tree, and what neighbours are told
- ``pressure``    full queues: who must wait
- ``explaining``  a dry publication: what touches it here, and what says no
- ``tracing``, ``events``   what the broker reports; ``outcomes``: what a traced publication met here
"""
