"""Seed 001, the Context Provisioning Architecture: brokers that route notifications of context to subscriptions.

So far the parts that the cores stand on, all pure:

- ``language``   expressions of subscriptions: reading within limits, evaluation, and a text form
- ``wire``       values and the 24 messages, in MessagePack
- ``matching``   the index of a broker's subscriptions
- ``covering``   which subscriptions make others needless on a link, and merging
- ``tables``     a broker's subscriptions and registrations as state, and routing by them
- ``contextml``  the same values as XML

The system is not in the registry yet, as nothing runs it.
"""
