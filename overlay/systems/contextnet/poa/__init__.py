"""The PoA manager: which gateways there are, how loaded they are, and which nodes move. Pure (contract, section 5).

::

    hello_poa, load_report ─> Gateways ─┐                    ┌─> gw_list
    connection_report ─> Reports ─> Seats ├─ rank ─> Balancer ─┴─> handover
                             └─> Pings ─> ping_config

Each round: scores, ideal numbers, moves, list. Only the owner of the partition of ``handover`` writes.
"""
