"""Shared helpers of the web application. Nothing here imports an app.

- ``formatting``     formats numbers, times and states on pages; ``tables``: rows as CSV, JSON or Parquet
- ``doors``          decorators of views: permission and method; ``confirmed``: admin actions with confirmation
- ``setting_forms``  forms from declarative settings; ``quantities``: numbers with units; ``picks``: selection lists
- ``outbox``         queues tasks by name, so that a lost queue loses nothing; ``guarded``: long computations in a
  process group
- ``errors``, ``error_body``  errors of services, and their JSON
- ``stale``          optimistic locking (ETags); ``streams``: streamed responses
- ``throttles``, ``cache_breaker``  counters in the cache, which may be unavailable
- ``ids``, ``moments``, ``spreadsheets``  identifiers, timestamps, text that is safe in a spreadsheet
"""
