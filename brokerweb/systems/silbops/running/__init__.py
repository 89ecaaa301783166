"""What the page of a run has beside the common parts.

- ``arms``  the run next to that of the other arm
"""
