"""Search by name over everything that has a page: rows of every kind, and the pages and actions themselves.

The palette (``Ctrl-K``), the search page and ``GET /api/search/`` show what ``services.find`` returns. It has no rows.
"""
