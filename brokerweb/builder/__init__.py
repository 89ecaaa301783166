"""The page on which an experiment is set up.

::

    a preset, an experiment, a run ── origins ──> a definition <── forms ──> inputs
                                                      │
                                      experiments.estimates: what it would make, take and need

- ``views``        the doors: the form, the document, and what is said beside them while one types
- ``forms``        inputs to a definition and back; ``fault_forms``: of its faults
- ``form_shape``   whether a definition can be shown as a form without leaving anything out
- ``origins``      what a new one begins as
"""
