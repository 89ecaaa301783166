"""The measures of a run, from the facts of its processes (contract, measures). Pure.

- ``facts``     the facts that matter, of a journal or of the lake
- ``ledger``    what became of each message
- ``balance``   hand-overs, and how evenly gateways are loaded
- ``trouble``   connections that broke, queues, new addresses
- ``casts``     messages to groups
- ``figures``   all measures by name
"""
