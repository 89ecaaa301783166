"""From facts to figures: what the processes of a run wrote becomes tables, live windows, charts and reports.

::

    journals ──collect──> Parquet (the lake) ──telemetry.spark──> result.json, report.html
        └────── window ──> snapshots of the live page

- ``runs``        where a run's files lie; ``manifest``: under which conditions it ran; ``storage``: whole files or none
- ``records``     facts as columns, derived from ``overlay.journal.facts``
- ``collect``     journals to Parquet and the run's ``summary``, with its ``verdict`` on itself
- ``metrics``     percentiles, outcomes, lateness, ages; ``processes``: what ticks say; ``schedule``: what was due
- ``oracle``      what each answer was worth, held against what had been provided
- ``window``      what the live page shows; ``histograms``: response times as ticks carry them; ``series``: their course
- ``happenings``  what events mean, in sentences; ``marks``: those of charts; ``history``: all, by the wall clock
- ``messages``    every message of a recorded run
- ``traces``      single queries, joined over all brokers; ``tracefile``: as a file, or from the journals of a live run
- ``holdings``    how many copies of what lay where when a run ended, beside how often it was asked for
- ``configurations``  which runs are replicates of each other; ``intervals``: over replicates, of ``shares`` too;
  ``paired``: by request
- ``quantiles``   exact percentiles from counts
- ``published``   Table B.1 of the thesis; ``figures``: 4.3 to 4.6
- ``charts``      the one shape of a chart; ``comparison``: the report as data; ``html``: as a page
- ``simulation``  a run in virtual time, kept by what it follows from; ``repeats``: the same again, compared; ``sweep``:
  many, by processes or by Spark
- ``calibration``  what messages cost live, for such runs, and how far these may be believed
- ``claims``      what was published, and whether simulated runs show it; ``search_table``: every search strategy
- ``spark``       computes reports; ``python -m telemetry`` makes them; ``progress``: what it tells meanwhile
- ``errors``      what stops telemetry for a reason that a person can act on

What computes figures is pure. Files and processes are the business of ``collect``, ``window``, ``history``,
``messages``, ``simulation``, ``sweep``, ``calibration``, ``spark`` and of whoever writes a page. Knows ``overlay`` and
nothing of the web.
"""
