"""The page that composes a subscription and tries it on recent notifications.

- ``recent``   notifications in the caches of a network's brokers
- ``trying``   the dry run
- ``covered``  subscriptions that cover the composed one
- ``views``, ``rest``
"""
