"""Waxwing's broker network: the protocol, its pure cores and the two drivers that run them.

Start here. A *provider* pushes context (``room r1: degC=21.5``, valid for a while) to a UDP broker, a *consumer* asks
any broker, and a broker that lacks the answer searches the overlay of its neighbours for it.

::

        overlay.systems.context_broker.broker ──┐                                  ┌── overlay.runtime   real UDP, real
        processes overlay.systems.context_broker.clients ─┤  pure cores: no socket, no clock ├
        overlay.deployment.fleet ───┘  ``now`` and chance handed in    └── overlay.sim       virtual time, the very same
        objects

What everything stands on:

- ``node``        the seam: what a driver may call on a core; ``chance``: randomness, handed in too; ``hashes``
- ``addresses``   ``host:port`` parsing; ``errors``: our mistakes and theirs
- ``untrusted``   JSON and YAML that others wrote, read within limits
- ``settings``    declarative settings, from which flags, forms and the API are made
- ``admission``   whose datagram is served next, when more come than a node can serve
- ``links``       delay, jitter, loss and the rest, for real and simulated datagrams alike; ``link_shapes``: several
                  at once, and in words
- ``facts``       every fact a process reports, defined once; ``journal``: the one writer and reader of them
- ``frames``      how journals and recordings lie in a file: lengths, checksums, and what is whole
- ``recording``   all that a broker received and sent, as a file; ``recorded``: a broker that writes it

The network and its users:

- ``broker``      the context broker (seed 000): messages, wire, table, walks, replication, members, pings
- ``clients``     provider, consumer and controller: retransmission until a terminal answer, and a deadline
- ``topologies``  generators of overlays, their checks and measures
- ``workload``    who provides and asks what, when, of which broker; ``assignment``: the ways of choosing that broker
- ``churn``       which brokers leave, crash and come back while a run measures
- ``faults``      what else goes wrong on purpose: brokers killed, links cut, slow, lossy or worse; ``fault_documents``
- ``engines``     live or simulated, and how large an overlay each takes
- ``services``    what time and memory brokers and clients take, as measured, for simulated ones to take
- ``experiment``  what an experiment may say, and the configurations it stands for
- ``systems``     the literal registry of what can be launched; ``profiles``: named sets of a broker's settings
- ``search_draws`` what single searches cost, in either driver's arena
- ``costs``       what requests and updates cost between brokers, by the brokers' counters
- ``holdings``    whether copies follow the square root of the query rate

Running one: a ``deployment`` is what is wanted of a host (brokers, links, settings, a workload; one JSON document), and
three pure modules say what follows from it, each about one thing:

- ``phases``      where the deployment is, from launching to finished, and which processes that phase wants
- ``fleet``       of the processes wanted, which to start, stop, kill or give up on
- ``assembly``    of the brokers that are up, which is ordered to join whom, and to watch its neighbours

``silence`` says how long somebody was not heard of: whoever renews a lease, or a broker.

The drivers: ``runtime`` (effects only; its ``hosted`` asks the three above) and ``sim`` (virtual time).
``python -m overlay`` is ``__main__``: brokers, single exchanges, the supervisor; ``cli_simulate`` is a run in virtual
time.

The cores import no I/O; the drivers never import each other; nothing here knows of telemetry or the web. The
contracts in ``pyproject.toml`` hold this, and ``make check`` runs them.
"""

__version__ = "0.1.0"
