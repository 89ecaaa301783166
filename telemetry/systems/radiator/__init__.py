"""The telemetry of seed 003, Radiator: pairs of a message and a recipient, their lag, and bytes.

- ``system``     the telemetry, for every part that works with runs
- ``pairs``      deliveries of propagations as those of single messages
- ``measures``   figures of runs
- ``messages``   a row for each message of a run
- ``ways``       one message's complete way; ``way_files`` reads it, ``folding`` and ``way_sequence`` draw chains
- ``shown``      charts, figures and words of the page of a run
"""
