"""What the processes of a run write down, and how it is read again.

- ``facts``       every fact that a process reports, defined once
- ``frames``      how journals and recordings lie in a file: lengths, checksums, and what is whole
- ``journal``     the one writer and reader of facts
- ``recording``   all that a node received and sent, as a file; ``recorded``: a node that writes it
"""
