"""The studies of seed 004.

- ``cells``           the runs of studies by what the presets vary
- ``inbound``         E4.1: messages of nodes
- ``disconnections``  E4.2: nodes that come and go, with and without a store
- ``balancing``       E4.3: gateways of unequal capacity
- ``delivery``        E4.6 and E4.7: what a broken connection loses, and what the wait for a report costs
"""
