"""The running federation in virtual time: real brokers and the real registration service on a lossy network, clients
that do what they are told, and an oracle that knows what clients did and which faults there were.

- ``villager``  a client without a plan of its own
- ``village``   the world: who is there, the network, faults, and what is right at rest
- ``witness``   listens to brokers: publications accepted, notifications sent, edges, sessions that ended
- ``ledger``    the oracle of section 12: none lost, none spurious, none twice, in order
- ``plan``      what a seed draws
- ``story``     one seed from its start to its end, for ``make soak``
- ``nomad``     a second story of some seeds: what a mobile broker carries
- ``bugs``      planted bugs, which the stories must find
"""
