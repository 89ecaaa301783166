"""Storage of runs: reads journals, writes Parquet.

- ``runs``        paths of a run's files; ``storage``: atomic files; ``manifest``: the conditions of a run
- ``records``     facts as columns; ``configurations``: grouping of replicates
- ``journal_ends``  the newest facts of a journal; ``history``: all events, by wall clock
- ``repeats``     comparison of repeated runs; ``pcapng``: datagrams as a capture
"""
