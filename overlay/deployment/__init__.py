"""The desired state of a host, and the steps that reach it. Pure.

- ``deployment``  brokers, links, settings and a workload as one checked document
- ``documents``   the checks of its parts
- ``phases``      the phases of a deployment, from launching to finished, and the desired processes of each
- ``rollout``     the steps from a running network to its desired state
- ``fleet``       which of these processes to start, stop, kill or give up on
"""
