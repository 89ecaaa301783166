"""Injected failures of a run. Pure.

- ``churn``           schedules of brokers that leave, crash and return
- ``faults``          killed servers; links that are cut, slow, lossy or otherwise impaired; ``fault_documents``: as
  JSON
- ``kinds``           faults of a system's own (``System.faults``), of its servers and clients; ``of_log``: those of
  its log
- ``targets``         the servers and clients that a document names or draws
"""
