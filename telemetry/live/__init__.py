"""What a run shows while it goes on.

- ``window``      one snapshot, whole in itself; ``loads``: how busy brokers are
- ``marks``       what charts mark; ``event_words``: what events mean, in sentences
"""
