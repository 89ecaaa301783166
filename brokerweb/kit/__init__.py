"""Shared helpers of the web application. Nothing here imports an app.

- ``tags``           template filters for numbers, times and states; ``tables``: rows as CSV, JSON or Parquet
- ``view_guards``    decorators of views: permission and method; ``admin_confirmation``: admin actions with confirmation
- ``setting_forms``  forms from declarative settings; ``quantities``: numbers with units; ``picks``: selection lists
- ``outbox``         queues tasks by name, so that a lost queue loses nothing; ``process_groups``: long
                     computations of a worker
- ``errors``, ``error_body``  errors of services, and their JSON
- ``etags``          optimistic locking (ETags); ``streams``: streamed responses
- ``throttles``, ``cache_breaker``  counters in the cache, which may be unavailable
- ``ids``, ``moments``, ``spreadsheets``  identifiers, timestamps, text that is safe in a spreadsheet
"""
