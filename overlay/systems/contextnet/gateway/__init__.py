"""A gateway: between mobile nodes on the transport and the log. Pure.

Each module imports only those below it::

        gateway                                  joins the others; a Server and a LogNode
        leaving | load | pings | presence | revocation
        gateway_list | inbound | outbound
        events | groups | parcels | rounds       tables and small parts
        station                                  what the modules above share
        config                                   what a gateway is made of
        settings

::

    node ── DATA ──> inbound ── append ──> inbound, groupcast, …    acknowledged when durable
    node <── DATA ── outbound <── records ── gateway.0, groupcast, broadcast, outbound    settled when acknowledged
                        └── append ──> unsent                                              or when durable there
"""
