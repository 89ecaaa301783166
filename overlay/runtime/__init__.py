"""Effects only: sockets, clocks, processes and files around the pure cores.

::

    udp          one node on one socket                    daemon    a broker as a process
    datagrams    how it receives and sends: one by one, or (``batched``, ``_datagrams.c``) many in one system call
    ports        many clients, each on sockets of its own  loadgen   a fleet of clients as a process
    ready        which of those sockets have something
    client       one question at a time, for programs      cli, cli_*: ``python -m overlay``
    calibrated   which service-time model holds on this machine
    usage, clock, reporting   what a process uses, when it is, and what it writes of itself

    supervisor   the host's one parent of brokers and fleets, and its loop
      control, supervisor_client   its door, and the way in; ``own_supervisor``: one for a program
      deployments, kept            what is deployed here, by which verbs; what survives a crash
      hosted, orders               one deployment kept moving; the joins it orders
    arena        an overlay in which one query after the other is asked, told of by taps
      link_faults                  links that become slow, lossy or cut while brokers run
      processes, work, lifeline    forked children, what they do, and why none is left behind
      rehearsal                    a broker's life in little before the first fork, so that its children share more
"""
