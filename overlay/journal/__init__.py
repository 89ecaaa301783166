"""Journals and recordings: the files that the processes of a run write.

- ``facts``       every kind of fact that a process reports
- ``frames``      the file format of journals and recordings: lengths, checksums, torn ends
- ``journal``     the writer and the reader of facts
- ``recording``   the file with all input and output of a node; ``recorded``: a node that writes it
"""
