"""The live view of a run.

- ``window``      complete snapshots; ``loads``: the load of brokers
- ``marks``       markers in charts; ``event_words``: events as sentences
"""
