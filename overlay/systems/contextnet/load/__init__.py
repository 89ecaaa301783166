"""The clients of a workload (contract, section 8): mobile nodes and applications, what they do when, what they report.

- ``draws``         outages, phases, new addresses and contexts, from the seed
- ``plans``         which clients there are, in which process; ``times``: those of a run
- ``open``          messages of a sender that wait for their answers
- ``nodes``         a mobile node from its start to the end of the run; ``applications``: an application
- ``shared``        what the clients of one process share; ``fleet``: these clients
"""
