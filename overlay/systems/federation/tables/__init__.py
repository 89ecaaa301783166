"""The tables of a broker, R and T, as state (seed 001, section 6).

What a neighbour should have of them is ``desired``, a function of the tables; what it was told is ``sent``; after any
change the difference goes. Late providers, lost neighbours and repairs need no code of their own.

    T   (subscription, destination)            desired(η) = {σ : (σ, D) ∈ T, D ≠ η, wanted(σ, η)}
    R   client → entries, by where they came from

- ``destinations``   clients and neighbours
- ``outlets``        desired and sent, for one neighbour or provider
- ``subscriptions``  T
- ``registrations``  R
- ``tables``         both, and routing by them

The local providers are told of subscriptions in the same way as neighbours, by OFFER. Nothing here sends: the core asks
for the differences, makes messages of them and owns all timers. Links form a forest: on a cycle, a withdrawn
subscription would live for ever.
"""
