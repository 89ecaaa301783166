"""What the page of a run has in addition to the common parts.

- ``arms``  the run next to that of the other arm
"""
