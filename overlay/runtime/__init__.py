"""The live driver: sockets, clocks, processes and files around the pure cores. It knows the contract, and no system.

::

    udp              one node on one socket                server_process   a server as a process
    datagrams        receiving and sending: one by one, or (``batched``, ``_datagrams.c``) many per system call
    ports            many clients, each with sockets       load_generator   a fleet of clients as a process
    ready            waits for readable sockets
    polled           what a server has next to its datagrams: ``logs``, and ``streams``, its connections over TCP
    calibrated       the service-time model of this machine; ``old_calibration``: files of earlier versions
    usage, clock, reporting, tracelog   memory and processor time, the wall clock, journals, traces of networks

    supervisor       the parent of all servers and fleets of this host, and its loop
      control, supervisor_client     its socket and the client; ``own_supervisor``: a supervisor for one program
      deployments, kept_networks     the deployments of this host and their commands; networks that survive a crash
      deployment_runner, orders      runs one deployment; sends the orders of its assembly; ``watch``: silent brokers
      deployment_processes           its processes: forked, stopped, restarted
      link_faults, own_faults        links that become slow, lossy or cut while servers run; faults of a system
      processes, work, lifeline      forked children, their work, and their end
      warm_up                        a short run of each server before the first fork, so that children share memory
"""
