"""The operation log of networks: who provided, queried and withdrew what, at which server, with what outcome, how fast.

Seed 000, section 5.2: "a logging tool that registers every operation performed in the system with a high detail level
[…], so that any unexpected or forbidden action could be easily identified"::

    request ──> record(Entry) ──> Buffer (memory, bounded) ──> a thread, each second ──> rows ──> page, REST, export

- ``buffer``     entries that wait, and how many found no room; pure
- ``entries``    what is kept of an operation, and its rows; pure
- ``worst``      which of them belong to the slowest and the failed; pure
- ``recording``  ``record``, for every interface, and the thread
- ``storing``    writes rows, and deletes the oldest
- ``services``   search and export

An interface calls ``record`` once for each request. That takes no lock, no thread and no query of the database.
"""
