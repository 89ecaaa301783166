"""The wire lab of a system whose messages travel on the channel (``overlay.channel``).

::

    one datagram ── table: its head and body ── dissecting: its records, and the messages in them
    many, in order ── assembling: the messages that they complete
    a message to a live server ── talking: a session of its own, and what is answered
    Wireshark ── lua;  conversations and verdicts ── village: nodes in one place

``lab.ChannelLab`` joins them. A system declares its messages as ``messages.Messages``.
"""
