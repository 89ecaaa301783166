"""Context-broker networks: the systems, and the two drivers that run them. Start here.

A *system* is the subject of one published paper: servers, clients, settings and a workload. Seed 000, the decentralised
context broker, is the first. Its cores are pure: they get time and randomness as arguments and open no sockets or
files. The same objects run over real UDP and in virtual time::

        systems.<name>     behaviour of servers and clients  pure
             |  contract, registry
        deployment, experiment, faults, load                 pure: the desired state, and the next step
             |
        runtime            real UDP, real processes          sim     virtual time
             |                                                |
        cli                ``python -m overlay``

The packages, lowest layer first. Each imports only packages above it in this list; ``make check`` verifies this:

- ``core``        nodes, addresses, settings, errors, links, random streams: used by every core
- ``channel``     reliable, ordered messages between peers over datagrams, for systems that need them
- ``journal``     the facts that processes report, their files, and recordings of single servers
- ``topologies``  generators, files, checks and measures of graphs; ``load``: assignment of clients, tallies, windows
- ``faults``      servers that leave, crash and return; links that are cut, slow or lossy; a system's own faults
- ``systems``     ``contract``: the interface of a system; ``registry``: all systems; a folder for each
- ``deployment``  a checked document of all processes of a host, its phases, and which process to start or stop next
- ``experiment``  definitions, sweeps and what-ifs: from one document to its configurations
- ``runtime``     UDP sockets, processes, the supervisor; ``sim``: the simulator, replay of recordings
- ``plugins``     systems from other packages (``WAXWING_SYSTEMS``)
- ``compiled``    the hottest of these modules as machine code, from the same sources
- ``cli``         the commands

Read ``systems/contract.py`` next.
"""

from overlay.compiled.finder import use

__version__ = "0.1.0"

use()
