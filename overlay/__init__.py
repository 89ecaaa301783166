"""Context-broker networks: the systems that live here, and the two drivers that run them. Start here.

A *system* is what one published paper describes: servers, clients, settings, a workload. Seed 000, the decentralised
context broker, is the first. Its cores are pure: time and chance are arguments, and no socket or file is opened. The
same objects run over real UDP and in virtual time::

        systems.<name>     what servers and clients do       pure
             |  contract, registry
        deployment, experiment, faults, load                 pure: what is wanted, and what comes next
             |
        runtime            real UDP, real processes          sim     virtual time
             |                                                |
        cli                ``python -m overlay``

The rooms, from the ground up. Each imports only those above it in this list, and ``make check`` verifies that:

- ``core``        node, addresses, settings, errors, links, chance: what every core stands on
- ``journal``     the facts that processes report, their files, and recordings of single servers
- ``topologies``  generators, files, checks and measures of graphs; ``load``: assignment of clients, tallies, windows
- ``faults``      servers that leave, crash and come back; links that are cut, slow or lossy
- ``systems``     ``contract``: what a system must offer; ``registry``: which systems there are; a folder for each
- ``deployment``  one checked document of what a host must run; its phases; which process to start or stop next
- ``experiment``  definitions, sweeps and what-ifs: from one document to the configurations it stands for
- ``runtime``     UDP sockets, processes, the supervisor; ``sim``: the simulator, recordings replayed
- ``plugins``     systems from other packages (``WAXWING_SYSTEMS``)
- ``cli``         the commands

Read ``systems/contract.py`` next.
"""

__version__ = "0.1.0"
