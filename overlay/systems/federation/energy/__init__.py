"""Energy of the phone that carries clients, and a broker if it is mobile (seed 001, section 7.3; contract, section 13).

A model, and so labelled wherever its figures are shown: nothing is measured. Pure functions over what a device did.

- ``constants``    all constants, each with its source and whether it was compared with it
- ``usage``        what a device did: exchanges over the radio, time of its processor
- ``powertutor``   power by packets per second, as the instrument of the paper computes it
- ``transfer``     energy by bytes, ramps and tails of transfers
- ``models``       both by the name of the setting
"""
