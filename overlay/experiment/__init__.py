"""Definitions of experiments, and their configurations. Pure.

Counterparts: the web stores definitions and launches their configurations; ``python -m overlay simulate`` and sweeps
read them from files; ``overlay.systems.registry`` knows the settings and the workload of a system.

- ``definition``  checks a definition and expands it to complete configurations
- ``sweeps``      the product of lists and blocks; the hash that identifies a configuration
- ``inline``      definitions with inline topologies; ``files``: definitions in files
- ``whatif``      one change to the configuration of a completed run
"""
