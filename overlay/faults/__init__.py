"""Injected failures of a run. Pure.

- ``churn``           schedules of brokers that leave, crash and return
- ``faults``          killed brokers; links that are cut, slow, lossy or otherwise impaired; ``fault_documents``: as
  JSON
"""
