"""The synchronous client, generated from ``_async`` by ``clients/python/unasync.py``."""
