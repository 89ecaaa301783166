"""The asynchronous client. ``_sync`` is generated from it by ``clients/python/unasync.py``."""
