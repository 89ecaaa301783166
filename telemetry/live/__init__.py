"""The live view of a run.

- ``window``      complete snapshots; ``measured``: figures since the start of measuring; ``loads``: of servers
- ``marks``       markers in charts; ``event_words``: events as sentences
"""
