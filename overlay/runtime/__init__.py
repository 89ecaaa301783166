"""Effects only: sockets, clocks, processes and files around the pure cores. It knows the contract, and no system.

::

    udp              one node on one socket                server_process   a server as a process
    datagrams        how it receives and sends: one by one, or (``batched``, ``_datagrams.c``) many in one system call
    ports            many clients, each with sockets       load_generator   a fleet of clients as a process
    ready            which of those sockets have something
    calibrated       which service-time model holds on this machine
    usage, clock, reporting, tracelog   what a process uses, when it is, and what it writes of itself

    supervisor       the parent of all servers and fleets of this host, and its loop
      control, supervisor_client     its socket, and the client of it; ``own_supervisor``: one for a program
      deployments, kept_networks     what is deployed here, by which verbs; what survives a crash
      deployment_runner, orders      one deployment kept moving; the orders of its assembly; ``watch``: who is silent
      link_faults                    links that become slow, lossy or cut while servers run
      processes, work, lifeline      forked children, what they do, and why none is left behind
      warm_up                        a short run of each server before the first fork, so that children share memory
"""
