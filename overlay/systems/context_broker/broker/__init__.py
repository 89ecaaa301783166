"""The context broker of seed 000 as a pure core; the contract is the wire protocol.

The messages are in ``wire``, next to this folder, and in ``fast`` what handles the commonest without building them.

- ``queries`` requests and answers as brokers pass them on
- ``table`` what providers said; ``storing`` what goes into it
- ``walks`` where a request goes next; ``replication`` who keeps a replica, ``refresh`` who is told a newer value;
  ``pending`` what waits for an answer, ``seen`` what was here before; ``hops`` from broker to broker, acknowledged or
  not; ``search`` the strategies, ``searching`` them together; ``standings`` what neighbours say of themselves
- ``members`` who the neighbours are; ``joining`` on orders; ``pings`` on what monitoring sees, ``suspicion`` before one
  is dropped, ``departures`` afterwards
- ``neighbour_search`` brokers that choose their neighbours, ``membership`` whom they prefer, ``mutual`` agreed by both
- ``structured`` the rival: who keeps what is agreed on, in a distributed hash table
- ``quotas`` who may take how much of what is kept; ``linear`` the prototype's table
- ``opennet`` who may command and how much a stranger gets; ``station`` the one way out, and the counters
- ``config``, ``events``, ``tracing``, ``reports`` what it is told and tells; ``broker`` composes and dispatches
"""
