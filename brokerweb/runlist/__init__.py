"""The list of runs: filters, order, columns and bulk actions.

::

   a URL ── listing ──> filtering, columns ──> one query ──> the page, REST, ``manage.py runs``, a file

- ``fields``       fields for filtering and sorting; ``filtering``: converts a filter to a query
- ``columns``      the columns of a list; ``listing``: a list from its URL; ``exports``: a list as a file
- ``bulk``         actions on many runs, with a preview
- ``saved_views``  named lists
- ``views``, ``bulk_views``  the pages

REST and comparisons select runs with these, too.
"""
