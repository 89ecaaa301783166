"""The messages of seed 000, each described once. Pure; knows no broker and no client.

::

    messages, extensions   one typed class per message        ─┐
    kinds                  kinds of fields, and their formats  ├─> table ─> codec      bytes to messages and back
    values                 reads and writes one field         ─┘        ├─> wire lab   fields, forms, examples
                                                                        ├─> telemetry  names and families
                                                                        ├─> waxwing.lua, docs/wire.md
                                                                        └─> broker     who knows which message

``overlay.systems.context_broker.fast`` reads the commonest messages by slicing; tests hold it to ``codec``.
"""
