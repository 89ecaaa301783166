"""From facts to figures: what the processes of a run wrote becomes tables, live windows, charts and reports.

::

    journals ──collect──> Parquet ──spark──> result.json, report.html
        └────── live.window ──> snapshots of the live page

- ``lake``        where a run's files are; ``collect``: journals to Parquet; ``summary``: what one run came to
- ``live``        what a run shows while it goes on
- ``statistics``  percentiles, and intervals over replicates; ``filters``: the language of thresholds and lists
- ``charts``      the one shape of a chart; ``reports``: the comparison, as data and as one file; ``spark`` computes it
- ``sweep``       one or many runs in virtual time; ``calibration``: what messages cost live, for such runs
- ``systems``     what is measured of one system alone: its oracle, traces, published values, studies
- ``errors``      what stops telemetry for a reason that a person can act on

What computes figures is pure. Knows ``overlay`` and nothing of the web.
"""
