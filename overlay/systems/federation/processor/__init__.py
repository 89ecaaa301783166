"""A modelled processor: messages wait in one queue and take effect at the end of their service (details, 2).

- ``service``     how long a message takes
- ``processor``   the queue
"""
