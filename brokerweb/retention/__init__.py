"""Retention: deletes files of ended runs, reports and cached simulations to free space.

- ``removal``    what the policy deletes, and the deletion; ``services``: the policy, previews and disk usage
- ``views``      the storage page

Its models are in ``brokerweb.storage``, which depends on neither runs nor reports.
"""
