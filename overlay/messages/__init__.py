"""Messages as MessagePack arrays, described by a table: a code, then one field after the other. Pure.

- ``errors``   the one error of messages that cannot be read or written
- ``kinds``    the types of fields, with their limits
- ``layouts``  the description of a message
- ``codec``    reads and writes messages as they are described
"""
