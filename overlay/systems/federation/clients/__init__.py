"""Clients of the federation, as pure cores: for the workload, and for any other program.

- ``session``    what a client hears; the base of both kinds
- ``registering``   registration at a broker, keep-alives; ``seeking``: discovery of another broker
- ``asking``     messages and requests; ``requests``: those without an answer yet
- ``consumer``   subscriptions (``live``) and what they bring, lookups, queries; ``receipts``: what was received before
- ``provider``   what is asked of a provider, and publishing
- ``events``     what they report
"""
