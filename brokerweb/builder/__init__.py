"""The page that creates an experiment.

::

    a preset, an experiment, a run ── prefill ──> a definition <── forms ──> inputs
                                                      │
                                      experiments.estimates: runs, duration, resources

- ``views``        the form, the document and the live estimate
- ``forms``        the form, and the definition that it gives; ``fault_forms``: the same for faults
- ``filling``      fills it from a definition, or from what was submitted
- ``form_shape``   checks that the form can show a definition completely
- ``prefill``      initial contents of a new experiment
"""
