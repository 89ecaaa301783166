"""What is wanted of a host, and what follows from it. Pure.

- ``deployment``  brokers, links, settings and a workload as one checked document
- ``phases``      where the deployment is, from launching to finished, and which processes that phase wants
- ``fleet``       of the processes wanted, which to start, stop, kill or give up on
"""
