"""Definitions of experiments, independent of the database.

- ``documents``   converts a definition with its topologies to YAML and back
- ``references``  resolves topologies given by id, name or definition
- ``normalisation``  normalises numbers, so that equal values are written equally
- ``relevance``   which settings a choice uses
- ``presets``     predefined experiments, from ``docs/examples``

``overlay.experiment.definition`` validates definitions; nothing here depends on ``brokerweb.experiments``.
"""
