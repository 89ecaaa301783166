"""Applications of ContextNet: what those of a workload, of programs and of the web have in common. Pure.

- ``application``  a member of the log that hears nodes, and sends to nodes, groups and all of them
- ``rights``       what one may do that has a user of its own in the engine of the log
"""
