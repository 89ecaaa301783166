"""What one run came to.

- ``summary``     what its page, its API and the reports say of it; ``verdict``: what it says of itself
- ``schedule``    what was due; ``processes``: what ticks say; ``truths``: what requests came to
- ``series``      a course in so many points
- ``measures``    the names, units and directions of its figures; ``thresholds``: what they must keep
"""
