"""The list of runs: which, in what order, with what columns, and what is done with many of them.

::

    an address ── listing ──> filtering, columns ──> one query ──> the page, REST, ``manage.py runs``, a file

- ``fields``       what runs are filtered and sorted by; ``filtering``: the query of a filter
- ``columns``      what a list shows; ``listing``: a whole list as its address says it; ``exports``: one to take away
- ``bulk``         one thing done with many runs, planned first
- ``saved_views``  lists under names
- ``views``, ``bulk_views``  the doors

REST and comparisons choose their runs by these too.
"""
