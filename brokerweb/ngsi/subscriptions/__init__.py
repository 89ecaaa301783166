"""Subscriptions: changes of a network's entities, sent to addresses by HTTP.

::

    index ──(entity before, after)──> Rule ──(concerns)──> Outbox ──(due)──> notifier ──> notices.transport

- ``rules``     which changes a subscription is about; pure
- ``outbox``    entities to be sent, when, and what became of it; pure
- ``rows``      the rows of the database
- ``notifier``  follows networks and sends, in the event loop of the web process
"""
