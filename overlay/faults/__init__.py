"""What goes wrong on purpose while a run measures. Pure.

- ``churn``           which brokers leave, crash and come back
- ``faults``          brokers killed, links cut, slow, lossy or worse; ``fault_documents``: as JSON
"""
