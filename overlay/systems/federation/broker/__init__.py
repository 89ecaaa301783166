"""The broker (CxB). ``broker`` joins the rooms; each has the state and the messages of one subject.

- ``station``      what the rooms share: messages, tables, deadlines
- ``clients``      the broker's own clients: registration, keep-alives
- ``registered``, ``deliveries``, ``held``   one of them; what goes to it, at once or later
- ``notifying``    subscriptions and notifications: to whom each notification goes
- ``cache``, ``duplicates``  the newest notifications, and the ids of those that have passed
- ``parts``        messages with many ids, in parts that a message can carry
- ``asking``       the synchronous mode: LOOKUP, and QUERY as a proxy
- ``neighbours``   the edges of the tree and their sessions
- ``edges``, ``old_edges``, ``meeting``, ``hellos``   one of them; those of an earlier tree; HELLO both ways
- ``exchange``     both tables over the edges
- ``flood``, ``flood_sending``   the same over links that form cycles
- ``forwarding``, ``store``  notifications over the edges, and what waits for a session
- ``membership``   the registration service: registering, and links that are dead
- ``directory``    which brokers there are, and which tree
- ``outages``, ``faulted``   a broker that is offline, vanishes or moves
"""
