"""``python -m telemetry search-table``: every search strategy on every topology, in virtual time and live.

Counterpart: ``telemetry.systems.context_broker.lab.draws``, of which one draw is run; here:

- ``draws``      which draws, by which engine; run in processes of their own, kept in a file as they come
- ``summary``    the draws summed up by topology, and the engines compared
- ``published``  compared with the table of walk policies in the specification
- ``page``       the tables in words
- ``command``    all of it
"""
