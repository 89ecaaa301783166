"""The thesis' claims: ``criteria`` says what each takes to be reproduced, ``page`` writes down how it came out.

``python -m telemetry claims`` judges the collected runs of ``docs/examples/published-matrix.yaml``.
"""
