"""The studies of seed 004.

- ``cells``           the runs of studies by what the presets vary
- ``inbound``         E4.1: messages of nodes, by nodes, gateways and applications
- ``disconnections``  E4.2: nodes that come and go, with and without a store
- ``balancing``       E4.3: nodes that all begin at one gateway
- ``both``            E4.4: both directions together
- ``factorial``       E4.5: five factors in all combinations
- ``delivery``        E4.6: what a buffer for broken connections guarantees
- ``presence``        E4.7: what the wait for a report costs
- ``expiry``          E4.8: messages that live for less time than they would be stored
- ``roaming``         E4.9: nodes that get other addresses
- ``overload``        E4.10: more messages than a gateway can handle
- ``groups``          E4.11: messages to groups
- ``restarts``        E4.12: restarts of the store, of the gateway and of the log
"""
