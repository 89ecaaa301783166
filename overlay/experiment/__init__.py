"""What an experiment says, and the configurations it stands for. Pure.

Counterparts: the web keeps definitions and launches their configurations, ``python -m overlay simulate`` and sweeps
read them from files; ``overlay.systems.registry`` knows the settings and the workload of a system.

- ``definition``  what a definition may say, checked whole; each of its configurations in full
- ``sweeps``      lists and blocks of a definition, multiplied out; the hash that names a configuration
- ``inline``      a definition that carries its topologies with it; ``files``: one that was written into a file
- ``whatif``      one thing changed in a configuration that has run
"""
