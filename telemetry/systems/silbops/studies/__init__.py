"""The studies of seed 002 that are simulated: E2.4, and E2.7 to E2.10. ``..in_process`` has experiments on one broker.

- ``network``      E2.4, Fig. 10: changes of context as fast as five brokers take them
- ``future``       E2.7 to E2.10: what the paper leaves to future work, one claim each
- ``definitions``  their runs, at both scales
"""
