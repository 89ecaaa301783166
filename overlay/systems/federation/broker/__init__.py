"""The broker (CxB). ``broker`` joins the rooms; each has the state and the messages of one subject.

- ``station``      what the rooms share: messages, tables, deadlines
- ``clients``      the broker's own clients: registration, keep-alives, what is held for them
- ``notifying``    subscriptions and notifications: to whom each notification goes
- ``asking``       the synchronous mode: LOOKUP, and QUERY as a proxy
- ``neighbours``   the edges of the tree, and both tables over them
- ``membership``   the registration service: which brokers there are, and which tree
"""
