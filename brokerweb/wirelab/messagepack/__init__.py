"""The wire lab of messages in MessagePack whose layouts are of ``overlay.messages``, carried by the channel.

::

    places: values with their offsets ── dissecting: a message value by value, with what is wrong and where
    a form ── composing ── a message ── composing ── its form
    Wireshark ── lua;  documentation ── page

A system declares its messages as a ``table.Table``; ``messages.PackedMessages`` gives the lab of the channel all of it.
All of these are pure.
"""
