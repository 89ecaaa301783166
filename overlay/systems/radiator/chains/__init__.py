"""Propagation: recipients are cut into chains, blobs into segments; hops forward them and the server repairs chains.

::

    propagations ── cutting, blobs ──> chain ── transfers ──> uplink ──> first hop ──> hop ──> ... ──> last hop
         │                               ^        ^ ACK                   │ arrivals, transfers
         └──────────> repair ────────────┘        │                       │
                        ^ reports: FAILED, DONE, PROGRESS <───────────────┘
"""
