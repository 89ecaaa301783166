"""The studies of seed 001: E1.1 to E1.5. All their values are simulated.

- ``criteria``       predicates A to Q as pure functions of values with intervals; sign tests
- ``cells``          runs by what the presets vary: arm, rate, service time
- ``loaded``         E1.1, Fig. 11: T_S against the rate; ``loaded_claims``: its claims, for each service time
- ``calibrated``     E1.1 with service times as measured
- ``wan``            E1.2, Fig. 12: quantiles of T_S over short and long links
- ``energy``         E1.3, Fig. 13: energy of a query
- ``disappearance``  E1.4, Fig. 14: when a disappearance is known; the bound of the settled state
- ``ablation``       E1.5: what the paper does not separate; ``ablation_claims``: its hypotheses
- ``definitions``    their runs, at both scales
"""
