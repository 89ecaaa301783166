"""Load on a network, whatever the network is. Pure.

- ``assignment``      which broker a client asks
- ``tally``           what a fleet of clients counts; ``response_times``: what its ticks say of these
"""
