"""Search by name: rows of every kind, pages and actions.

The palette (``Ctrl-K``), the search page and ``GET /api/search/`` show the results of ``services.find``. It has no
tables.
"""
