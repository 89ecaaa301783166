"""Where what runs wrote is kept: journals in, Parquet out.

- ``runs``        where the files of a run lie; ``storage``: whole files or none; ``manifest``: under which conditions
- ``records``     facts as columns; ``configurations``: which runs are replicates of each other
- ``journal_ends``  the newest of a journal; ``history``: all that happened, by the wall clock
- ``repeats``     the same run again, compared; ``pcapng``: datagrams as a capture
"""
