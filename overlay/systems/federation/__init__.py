"""Seed 001, the Context Provisioning Architecture: brokers that route notifications of context to subscriptions.

All pure, from the top:

- ``system``     what drivers, plans and pages use; ``checks``, ``expectations``, ``advice``, ``fault_kinds`` are parts
- ``load``       the clients of a workload; ``measuring``: what their records and brokers' events amount to
- ``broker``, ``bdrs``, ``clients``   the cores: brokers, the registration service, consumers and providers
- ``energy``, ``processor``           models: of a phone's energy, of a slow processor
- ``peers``      messages by name over ``overlay.channel``
- ``tables``     a broker's subscriptions and registrations as state, and routing by them; ``contextml``: values as XML
- ``matching``   the index of a broker's subscriptions; ``covering``: which of them are needless on a link
- ``wire``       values and the 24 messages, in MessagePack
- ``language``   expressions of subscriptions: reading within limits, evaluation, and a text form
"""
