"""Measurement and analysis: turns the journals of a run into tables, live windows, charts and reports.

::

    journals ──collect──> Parquet ──spark──> result.json, report.html
        └────── live.window ──> snapshots of the live page

- ``lake``        paths of a run's files; ``collect``: journals to Parquet; ``summary``: the figures of one run
- ``live``        snapshots of a run in progress
- ``statistics``  percentiles, and intervals over replicates; ``filters``: the language of thresholds and lists
- ``charts``      chart descriptions; ``reports``: the comparison, as data and as one file; computed by ``spark``
- ``sweep``       one or many runs in virtual time; ``calibration``: service times of messages, for such runs
- ``systems``     measurements specific to one system: its oracle, traces, published values, studies
- ``studies``     published figures and questions as studies: definition, values, criteria
- ``formatting``  numbers, times and names in words; ``templating``: Jinja2 for HTML and Markdown
- ``errors``      errors that a person can act on

Code that computes figures is pure. Imports ``overlay`` and nothing of the web.
"""
