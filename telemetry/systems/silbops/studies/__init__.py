"""The studies of seed 002. E2.4 and E2.7 to E2.10 are simulated, the others measured ``..in_process``.

- ``changes``      E2.1 to E2.3, Figs. 7 to 9: what a change of context costs a broker
- ``network``      E2.4, Fig. 10: changes of context as fast as five brokers take them
- ``throughput``   E2.5, Fig. 11 and Table 1: what contexts cost a notification, and E2.5-million
- ``break_even``   E2.6: from how many notifications per change on SIENA is cheaper
- ``future``       E2.7 to E2.10: what the paper leaves to future work, one claim each
- ``definitions``  their runs, at both scales
- ``cells``        runs by what is varied; ``telling``: values for sentences
"""
