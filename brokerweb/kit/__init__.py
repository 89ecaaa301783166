"""What all rooms of the web share. Nothing here knows a room.

- ``formatting``     numbers, times and states as every page writes them; ``tables``: rows as CSV, JSON or Parquet
- ``doors``          guards of views: who may, which method; ``confirmed``: admin actions that ask first
- ``setting_forms``  forms made from declarative settings; ``quantities``: numbers typed with units; ``picks``: lists to
                     choose from
- ``outbox``         asks for tasks by name, so that a lost queue loses nothing; ``guarded``: long work of a worker
- ``errors``, ``error_body``  what cannot be done, and the shape in which it is said
- ``stale``          edits of what changed meanwhile (ETags); ``streams``: long answers a piece at a time
- ``throttles``, ``cache_breaker``  counters in the cache, which may be away
- ``ids``, ``moments``, ``spreadsheets``  small things: identifiers, instants, text that is safe in a spreadsheet
"""
